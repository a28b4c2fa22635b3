import Crypto
import Foundation
import UserTokens

/// What a small OAuth server remembers, in memory.
///
/// Refresh tokens are rotated: each is accepted once. If a spent one comes back, two parties have it, and everything
/// that was issued since the sign-in is revoked, as large servers do.
actor Grants {
  struct Tokens: Encodable {
    var access_token: String
    var refresh_token: String
    var expires_in: Int
    var token_type = "Bearer"
  }

  struct Calls: Encodable {
    var codes = 0
    var refreshes = 0
    var revocations = 0
  }

  private struct Code {
    var user: String
    var redirect: String
    var challenge: String
  }

  /// The tokens that descend from one sign-in. Access tokens are valid until they are revoked: when they expire is only
  /// announced, and the client acts on it.
  private struct Family {
    var user: String
    var refresh = ""
    var access: Set<String> = []
  }

  private(set) var calls = Calls()
  private var lifetime = 3600
  private var codes: [String: Code] = [:]
  private var families: [Int: Family] = [:]
  private var spent: [String: Int] = [:]
  private var signIns = 0

  /// How many seconds the next access tokens are valid. With 0 they have expired already.
  func setLifetime(_ seconds: Int) { lifetime = seconds }

  /// The user always consents.
  func code(for user: String, redirect: String, challenge: String) -> String {
    let code = Self.random("code")
    codes[code] = Code(user: user, redirect: redirect, challenge: challenge)
    return code
  }

  /// - Returns: `nil` if the code, the address or the verifier is not right.
  func exchange(_ code: String, verifier: String, redirect: String) -> Tokens? {
    calls.codes += 1
    guard let found = codes.removeValue(forKey: code), found.redirect == redirect,
      found.challenge == Data(SHA256.hash(data: Data(verifier.utf8))).base64URL
    else { return nil }
    signIns += 1
    families[signIns] = Family(user: found.user)
    return issue(to: signIns)
  }

  /// - Returns: `nil` if the token is unknown, spent or revoked.
  func refresh(_ token: String) -> Tokens? {
    calls.refreshes += 1
    if let family = spent[token] { families[family] = nil }
    guard let family = families.first(where: { $0.value.refresh == token })?.key else { return nil }
    spent[token] = family
    return issue(to: family)
  }

  func revoke(_ token: String) {
    calls.revocations += 1
    families = families.filter { $0.value.refresh != token && !$0.value.access.contains(token) }
  }

  /// - Returns: `nil` if the access token is unknown or revoked.
  func user(of access: String) -> String? {
    families.values.first { $0.access.contains(access) }?.user
  }

  private func issue(to family: Int) -> Tokens {
    let tokens = Tokens(
      access_token: Self.random("access"), refresh_token: Self.random("refresh"), expires_in: lifetime)
    families[family]?.refresh = tokens.refresh_token
    families[family]?.access.insert(tokens.access_token)
    return tokens
  }

  private static func random(_ kind: String) -> String {
    "\(kind)_" + SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64URL }
  }
}
