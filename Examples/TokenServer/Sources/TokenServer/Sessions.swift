import Crypto
import Foundation
import UserTokens

/// Sessions that the server has signed (HMAC-SHA256). It keeps no list of them: every process with the signing key
/// recognises them, also after a restart, and a new signing key ends them all.
struct Sessions: Sendable {
  typealias KeySource = @Sendable () throws -> SymmetricKey

  let lifetime: Int
  let key: KeySource

  /// Returns `USER.EXPIRY.CODE`.
  func issue(for user: String) throws -> String {
    let claims = "\(Data(user.utf8).base64URL).\(Self.now + lifetime)"
    return "\(claims).\(try code("session", claims).base64URL)"
  }

  /// Returns the user of a session, or `nil` if the session is not ours or is over.
  /// - Throws: if the signing key cannot be read.
  func user(of session: String) throws -> String? {
    let key = try key()
    let parts = session.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let sent = Data(base64URL: String(parts[2])),
      HMAC<SHA256>.isValidAuthenticationCode(
        sent, authenticating: Data("session.\(parts[0]).\(parts[1])".utf8), using: key),
      let expiry = Int(parts[1]), Self.now < expiry, let user = Data(base64URL: String(parts[0]))
    else { return nil }
    return String(decoding: user, as: UTF8.self)
  }

  // MARK: Signing in

  func state(of attempt: SignInAttempt) throws -> String { try code("state", attempt.text).base64URL }

  func isState(_ state: String, of attempt: SignInAttempt) throws -> Bool {
    guard let sent = Data(base64URL: state) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(
      sent, authenticating: Data("state.\(attempt.text)".utf8), using: try key())
  }

  func verifier(of attempt: SignInAttempt) throws -> String { try code("verifier", attempt.text).base64URL }

  // The purpose comes first, so that no code is valid for a different purpose.
  private func code(_ purpose: String, _ text: String) throws -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: Data("\(purpose).\(text)".utf8), using: try key()))
  }

  private static var now: Int { Int(Date().timeIntervalSince1970) }
}

/// One sign-in of one browser: a random number in a cookie. The state and the PKCE verifier are derived from it with the
/// signing key. It never is part of an address, so a stolen callback address is of no use without the cookie.
struct SignInAttempt {
  let text: String

  init() { text = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64URL } }

  init?(_ cookie: String) {
    guard Data(base64URL: cookie)?.count == 32 else { return nil }
    text = cookie
  }

  static func challenge(for verifier: String) -> String { Data(SHA256.hash(data: Data(verifier.utf8))).base64URL }
}
