import Foundation
import Hummingbird
import Secrets
import UserTokens

/// What the server answers.
struct Routes: Sendable {
  let oauth: OAuthClient
  let tokens: UserTokens
  let sessions: Sessions
  /// The keys of services that have no OAuth, which users keep here.
  let keys: any PreferencesStore
  let vaults: [GroupVault]
  let loops: LoopDelay?
  let isPublicURLSecure: Bool

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: Failures())
    router.get("health", use: health)
    router.get("sign-in", use: signIn)
    router.get("callback", use: callback)
    router.get("me/token", use: token)
    router.delete("me/token", use: signOut)
    router.get("me/keys/:name", use: key)
    router.put("me/keys/:name", use: setKey)
    if let loops { router.get("debug/loops") { _, _ in loops.report() } }
    return router
  }

  // MARK: Signing in

  /// Sends the browser to the OAuth server. What the callback needs is derived from one cookie, so any process with the
  /// signing key can answer it, and there is nothing to store.
  @Sendable func signIn(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    let attempt = SignInAttempt()
    var response = Response.redirect(
      to: oauth.signInURL(
        state: try sessions.state(of: attempt),
        challenge: SignInAttempt.challenge(for: try sessions.verifier(of: attempt)),
        hint: request.uri.queryParameters["user"].map(String.init)),
      type: .found)
    response.setCookie(cookie(attempt.text, maxAge: 600))
    return response
  }

  /// Exchanges the code for tokens, stores them, and answers a session.
  @Sendable func callback(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = request.uri.queryParameters
    guard let attempt = request.cookies["sign-in"].flatMap({ SignInAttempt($0.value) }), let state = query["state"],
      let code = query["code"], try sessions.isState(String(state), of: attempt)
    else { throw HTTPError(.badRequest, message: "this browser did not begin this sign-in") }
    let issued: RefreshingToken.Tokens
    do {
      issued = try await oauth.exchange(code: String(code), verifier: try sessions.verifier(of: attempt))
    } catch let failure as OAuthFailure where failure.isInvalidGrant {
      throw HTTPError(.badRequest, message: "the code is not valid")
    }
    let user = try await oauth.user(of: issued.access)
    try await tokens.token(of: user).set(issued)
    var response = try context.responseEncoder.encode(
      ["session": try sessions.issue(for: user)], from: request, context: context)
    response.setCookie(cookie("", maxAge: 0))
    return response
  }

  private func cookie(_ value: String, maxAge: Int) -> Cookie {
    Cookie(
      name: "sign-in", value: value, maxAge: maxAge, path: "/", secure: isPublicURLSecure, httpOnly: true,
      sameSite: .lax)
  }

  // MARK: The user's token

  @Sendable func token(_ request: Request, _ context: BasicRequestContext) async throws -> [String: String] {
    let token = tokens.token(of: try user(of: request))
    return ["access_token": try await token.accessToken().withValue { $0 }]
  }

  /// Removes the tokens and revokes them at the OAuth server. If that fails they are put back, for a second attempt.
  @Sendable func signOut(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
    let token = tokens.token(of: try user(of: request))
    guard let removed = try await token.remove() else { return .noContent }
    do { try await oauth.revoke(removed.refresh ?? removed.access) } catch {
      try await token.set(removed)
      throw error
    }
    return .noContent
  }

  // MARK: Keys that the user keeps here

  @Sendable func key(_ request: Request, _ context: BasicRequestContext) throws -> String {
    guard let value = try keys.string(forKey: try keyName(request, context)) else { throw HTTPError(.notFound) }
    return value
  }

  /// The answer is sent when the value is durable. The asynchronous form does not block the thread that waits for it.
  @Sendable func setKey(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
    let name = try keyName(request, context)
    let body = try await request.body.collect(upTo: 4096)
    try await keys.set(String(buffer: body), forKey: name)
    return .noContent
  }

  private func keyName(_ request: Request, _ context: BasicRequestContext) throws -> String {
    let name = try context.parameters.require("name")
    // Without a slash, so that no two pairs of key and user have the same name.
    guard name.utf8.count <= 64, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
      throw HTTPError(.badRequest, message: "a name has up to 64 letters, digits and dashes")
    }
    return "\(name)/\(try user(of: request))"
  }

  // MARK: -

  private func user(of request: Request) throws -> String {
    guard let field = request.headers[.authorization], field.hasPrefix("Bearer "),
      let user = try sessions.user(of: String(field.dropFirst(7)))
    else { throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
    return user
  }

  /// Whether both groups can be read now. For readiness: a restart does not repair a vault.
  @Sendable func health(_ request: Request, _ context: BasicRequestContext) throws -> String {
    guard vaults.allSatisfy({ $0.vault.health().isReady }) else { throw HTTPError(.serviceUnavailable) }
    return "ok\n"
  }
}
