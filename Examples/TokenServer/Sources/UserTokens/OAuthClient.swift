public import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
public import Secrets

/// The requests to an OAuth server (RFC 6749, 7009, 7636).
///
/// The HTTP client keeps what it sends and receives in ordinary memory. No error contains any of it.
public struct OAuthClient: Sendable {
  private let http: HTTPClient
  private let url: String
  private let clientID: String
  private let clientSecret: Secret<String>
  private let redirect: String

  /// - Throws: `absent` if the vault has no client secret, and the errors of the settings.
  public init(_ settings: CompositePreferences, over http: HTTPClient) throws {
    self.http = http
    url = try settings.value(for: .oauthURL)
    clientID = try settings.value(for: .clientID)
    clientSecret = try settings.required(.clientSecret)
    redirect = try settings.value(for: .publicURL) + "/callback"
  }

  /// The address to which a browser is sent to sign in.
  public func signInURL(state: String, challenge: String, hint: String?) -> String {
    var fields = [
      "response_type": "code", "client_id": clientID, "redirect_uri": redirect, "state": state,
      "code_challenge": challenge, "code_challenge_method": "S256",
    ]
    fields["login_hint"] = hint
    return "\(url)/authorize?\(Self.form(fields))"
  }

  /// Exchanges the code of a sign-in for tokens.
  public func exchange(code: String, verifier: String) async throws -> RefreshingToken.Tokens {
    try await tokens([
      "grant_type": "authorization_code", "code": code, "code_verifier": verifier, "redirect_uri": redirect,
    ])
  }

  /// Spends a refresh token.
  /// - Throws: `RefreshFailure(.rejected)` if the server refuses it for good.
  public func refresh(_ token: Secret<String>) async throws -> RefreshingToken.Tokens {
    do {
      return try await tokens(["grant_type": "refresh_token", "refresh_token": token.withValue { $0 }])
    } catch let failure as OAuthFailure where failure.isInvalidGrant {
      throw RefreshFailure(.rejected)
    }
  }

  /// Revokes a refresh token and the access tokens that were issued with it.
  public func revoke(_ token: Secret<String>) async throws {
    _ = try await post("/revoke", ["token": token.withValue { $0 }])
  }

  /// Returns the name of the user to whom an access token belongs.
  public func user(of access: Secret<String>) async throws -> String {
    struct Answer: Decodable { var sub: String }
    var request = HTTPClientRequest(url: url + "/userinfo")
    request.headers.add(name: "authorization", value: "Bearer " + (try access.withValue { $0 }))
    return try JSONDecoder().decode(Answer.self, from: try await send(request)).sub
  }

  private func tokens(_ fields: [String: String]) async throws -> RefreshingToken.Tokens {
    struct Answer: Decodable {
      var access_token: String
      var refresh_token: String?
      var expires_in: Double?
    }
    let answer = try JSONDecoder().decode(Answer.self, from: try await post("/token", fields))
    return try RefreshingToken.Tokens(
      access: answer.access_token, refresh: answer.refresh_token,
      expires: answer.expires_in.map { Date(timeIntervalSinceNow: $0) } ?? .distantFuture)
  }

  private func post(_ path: String, _ fields: [String: String]) async throws -> Data {
    var request = HTTPClientRequest(url: url + path)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
    let secret = try clientSecret.withValue { $0 }
    let credential = Data("\(Self.escaped(clientID)):\(Self.escaped(secret))".utf8).base64EncodedString()
    request.headers.add(name: "authorization", value: "Basic " + credential)
    request.body = .bytes(ByteBuffer(string: Self.form(fields)))
    return try await send(request)
  }

  private func send(_ request: HTTPClientRequest) async throws -> Data {
    // Shorter than the lease of a refresh, which is 30 s.
    let response = try await http.execute(request, timeout: .seconds(10))
    let body = Data(buffer: try await response.body.collect(upTo: 1 << 16))
    guard response.status == .ok else { throw OAuthFailure(status: response.status.code, body) }
    return body
  }

  private static func form(_ fields: [String: String]) -> String {
    fields.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
  }

  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// An answer of the OAuth server other than 200.
public struct OAuthFailure: Error, CustomStringConvertible {
  public let status: UInt
  /// Whether the code or the refresh token is not, or no longer, valid.
  public let isInvalidGrant: Bool

  init(status: UInt, _ body: Data) {
    struct Answer: Decodable { var error: String }
    self.status = status
    // A body that is not an OAuth error is one more way to fail.
    isInvalidGrant = status == 400 && (try? JSONDecoder().decode(Answer.self, from: body))?.error == "invalid_grant"
  }

  public var description: String { "the OAuth server answers \(status)" }
}
