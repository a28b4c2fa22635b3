import Foundation
import Secrets
import SecretsTesting
import Testing

private struct OAuthToken: Codable, Equatable {
  var access: String
  var refresh: String?
  var issued: Date
  var scopes: [String]

  static let sample = OAuthToken(
    access: "s3ntinel-5ecret", refresh: nil, issued: Date(timeIntervalSinceReferenceDate: 0.1), scopes: ["repo", "$x"])
}

extension PreferenceKey<Secret<OAuthToken>?> {
  fileprivate static var oauth: Self { .codable("oauth") }
}

/// Secrets of types that are `Codable` and nothing else.
@Suite(.throwawayVault) struct CodableSecretTests {}

extension CodableSecretTests {
  @Test func `a secret of a Codable type comes back from a vault`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set(Secret(encoding: .sample), for: .oauth)

    #expect(try secrets.value(for: .oauth)?.withValue { $0 } == .sample)
    #expect(try secrets.secret(forKey: "oauth", decoding: OAuthToken.self)?.withValue { $0 } == .sample)
    #expect(try secrets.value(forKey: "oauth", decoding: OAuthToken.self) == .sample)
    #expect(try secrets.info(forKey: "oauth")?.kind == .json)
    #expect(try secrets.secret(forKey: "nothing", decoding: OAuthToken.self) == nil)
  }

  @Test func `it stays in sealed layers, through composites and views`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    let plain = DictionaryPreferences()
    let preferences = CompositePreferences([plain, secrets.below("app.").claiming(.names(["oauth"]))])
    try preferences.set(Secret(encoding: .sample), for: .oauth)

    #expect(plain.keys() == [])
    #expect(try secrets.keys() == ["app.oauth"])
    #expect(try preferences.value(for: .oauth)?.withValue { $0.scopes } == ["repo", "$x"])
  }

  @Test func `a batch and a write with metadata take it`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    let token = try Secret(encoding: OAuthToken.sample)
    try secrets.set(token, forKey: "a", expires: .distantFuture)
    try secrets.transaction { batch in try batch.set(token, forKey: "b") }

    #expect(try secrets.secret(forKey: "a", decoding: OAuthToken.self) == token)
    #expect(try secrets.secret(forKey: "b", decoding: OAuthToken.self) == token)
  }

  @Test func `a type with a form of its own is stored the same by either initialiser`() throws {
    #expect(try Secret(encoding: "text") == Secret("text"))
    #expect(try Secret(encoding: [1, 2]) == Secret([1, 2]))
    #expect(try Secret(encoding: "text").withBytes { $0.byteCount } == 4)
  }

  @Test func `what does not decode is refused, without the stored text`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set(["s3ntinel-5ecret": "s3ntinel-5ecret"], forKey: "oauth")

    let error = #expect(throws: PreferencesError.self) { try secrets.value(for: .oauth) }
    // As of a plain key: the first entry that is missing.
    #expect(error?.code == .malformed)
    #expect(error?.message == "key \"oauth\": entry \"access\": it is missing")
    let text = "\(String(describing: error)) \(String(reflecting: error?.cause))"
    #expect(!text.contains("s3ntinel"))
  }

  @Test func `what does not encode is refused, without its own error`() {
    struct Failing: Codable {
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue("s3ntinel", .init(codingPath: [], debugDescription: "s3ntinel"))
      }
    }
    let error = #expect(throws: VaultError.self) { try Secret(encoding: Failing()) }
    #expect(error?.code == .typeMismatch)
    #expect(error?.cause == nil)
  }

  @Test func `it prints as redacted`() throws {
    let token = try Secret(encoding: OAuthToken.sample)
    var dumped = ""
    dump(token, to: &dumped)
    #expect("\(token)" == "<redacted>")
    #expect(!dumped.contains("s3ntinel"))
  }
}
