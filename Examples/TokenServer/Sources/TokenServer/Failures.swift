import Hummingbird
import Secrets
import UserTokens

/// Turns errors into answers. A vault that cannot be read is 503: the token may exist, so the answer is never that it
/// does not (404), or that the user has to sign in again (401).
struct Failures: RouterMiddleware {
  typealias Context = BasicRequestContext

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      var response = try await next(request, context)
      response.headers[.cacheControl] = "no-store"
      return response
    } catch let error as any HTTPResponseError { throw error } catch {
      let (status, headers): (HTTPResponse.Status, HTTPFields) =
        switch error {
        case let failure as RefreshFailure where failure.code == .signedOut || failure.code == .rejected:
          (.unauthorized, [.wwwAuthenticate: "Bearer error=\"invalid_token\""])
        case is VaultError, is PreferencesError: (.serviceUnavailable, [.retryAfter: "5"])
        default: (.badGateway, [:])  // the OAuth server failed, or could not be reached
        }
      // The errors of the vault and of a refresh contain no token and no name. Those of other packages may.
      let reason =
        error is VaultError || error is RefreshFailure || error is OAuthFailure ? "\(error)" : "\(type(of: error))"
      context.logger.warning("\(status.code): \(reason)")
      throw HTTPError(status, headers: headers)
    }
  }
}
