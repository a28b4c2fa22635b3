import Foundation
import Hummingbird

/// A small OAuth server on this machine, to try the example and to test it: every user consents, and nothing is stored.
///
/// It is configured by variables: `OAUTH_PORT`, `OAUTH_CLIENT_ID` and `OAUTH_CLIENT_SECRET_FILE`.
@main struct OAuthServer {
  static func main() async throws {
    let environment = ProcessInfo.processInfo.environment
    guard let path = environment["OAUTH_CLIENT_SECRET_FILE"] else {
      throw Failure("OAUTH_CLIENT_SECRET_FILE is not set")
    }
    let secret = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").first ?? ""
    let client = "\(environment["OAUTH_CLIENT_ID"] ?? "token-server"):\(secret)"
    let server = Application(
      router: Endpoints(grants: Grants(), client: client).router(),
      configuration: .init(address: .hostname("127.0.0.1", port: Int(environment["OAUTH_PORT"] ?? "9090") ?? 9090)))
    try await server.runService()
  }
}

private struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

private struct Endpoints: Sendable {
  let grants: Grants
  /// `ID:SECRET` of the only client.
  let client: String

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.get("authorize", use: authorize)
    router.post("token", use: token)
    router.post("revoke", use: revoke)
    router.get("userinfo", use: userInfo)
    // For those who try and test: how often each endpoint was called, and the lifetime of the next tokens.
    router.get("calls") { request, context in
      try context.responseEncoder.encode(await grants.calls, from: request, context: context)
    }
    router.put("lifetime/:seconds") { _, context in
      await grants.setLifetime(try context.parameters.require("seconds", as: Int.self))
      return HTTPResponse.Status.noContent
    }
    return router
  }

  @Sendable func authorize(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let query = request.uri.queryParameters
    guard let redirect = query["redirect_uri"], let state = query["state"], let challenge = query["code_challenge"],
      query["response_type"] == "code", query["code_challenge_method"] == "S256"
    else { throw HTTPError(.badRequest) }
    let code = await grants.code(
      for: query["login_hint"].map(String.init) ?? "ada", redirect: String(redirect), challenge: String(challenge))
    return .redirect(to: "\(redirect)?code=\(code)&state=\(state)", type: .found)
  }

  @Sendable func token(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let form = try await form(request, context)
    let tokens =
      switch form["grant_type"] {
      case "authorization_code":
        await grants.exchange(
          form["code"] ?? "", verifier: form["code_verifier"] ?? "", redirect: form["redirect_uri"] ?? "")
      case "refresh_token": await grants.refresh(form["refresh_token"] ?? "")
      default: throw HTTPError(.badRequest)
      }
    guard let tokens else {
      var response = try context.responseEncoder.encode(["error": "invalid_grant"], from: request, context: context)
      response.status = .badRequest
      return response
    }
    return try context.responseEncoder.encode(tokens, from: request, context: context)
  }

  @Sendable func revoke(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
    await grants.revoke(try await form(request, context)["token"] ?? "")
    return .ok
  }

  @Sendable func userInfo(_ request: Request, _ context: BasicRequestContext) async throws -> [String: String] {
    guard let field = request.headers[.authorization], field.hasPrefix("Bearer "),
      let user = await grants.user(of: String(field.dropFirst(7)))
    else { throw HTTPError(.unauthorized) }
    return ["sub": user]
  }

  private func form(_ request: Request, _ context: BasicRequestContext) async throws -> [String: String] {
    guard let field = request.headers[.authorization], field.hasPrefix("Basic "),
      let sent = Data(base64Encoded: String(field.dropFirst(6))),
      String(decoding: sent, as: UTF8.self).removingPercentEncoding == client
    else { throw HTTPError(.unauthorized) }
    let text = String(buffer: try await request.body.collect(upTo: 1 << 16))
    return try URLEncodedFormDecoder().decode([String: String].self, from: text)
  }
}
