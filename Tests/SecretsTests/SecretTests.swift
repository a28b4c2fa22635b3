import Foundation
import PreferencesOperators
import Secrets
import SecretsTesting
import Testing

extension PreferenceKey<Secret<String>?> {
  fileprivate static var token: Self { .init("github.token") }
}

/// A value that is printed nowhere, and the keys that are typed so.
@Suite(.throwawayVault) struct SecretTests {}

extension SecretTests {
  private static let sentinel = "SENTINEL-5f3a"

  // MARK: The value

  @Test func `item 120: a secret prints as redacted, by whatever it is printed`() throws {
    struct Holder { let token: Secret<String>, other: Secret<Data>? }
    let secret = try Secret(Self.sentinel)
    let holder = Holder(token: secret, other: try Secret(Data(Self.sentinel.utf8)))
    var dumped = ""
    dump(holder, to: &dumped)

    for value in [secret, holder, [secret], ["k": secret]] as [Any] {
      #expect(traces(of: Self.sentinel, in: value) == [])
    }
    #expect("\(secret)" == "<redacted>")
    #expect(String(reflecting: secret) == "<redacted>")
    #expect(Mirror(reflecting: secret).children.isEmpty)
    for text in ["\(holder)", String(reflecting: holder), dumped, "\([secret])", "\(["k": secret])"] {
      #expect(text.contains("<redacted>"), "\(text)")
    }
  }

  @Test func `a secret is not Codable and has no hash`() throws {
    let secret: Any = try Secret(Self.sentinel)

    #expect(!(secret is any Encodable))
    #expect(!(secret is any Decodable))
    #expect(!(secret is any Hashable))
    #expect(!(secret is any PreferenceConvertible))
  }

  @Test func `a secret lends its value`() throws {
    #expect(try Secret("text").withValue { $0 } == "text")
    #expect(try Secret(Data([1, 2])).withValue { $0 } == Data([1, 2]))
    #expect(try Secret(UInt64.max).withValue { $0 } == .max)
    #expect(try Secret(["a": [1, 2]]).withValue { $0 } == ["a": [1, 2]])
    #expect(try Secret("").withValue { $0 } == "")
  }

  @Test func `a secret of bytes lends them where they are`() throws {
    let text = try Secret("text")
    let data = try Secret(Data([0, 255]))

    #expect(text.withBytes { $0.byteCount } == 4)
    #expect(text.withBytes { $0.unsafeLoad(fromByteOffset: 3, as: UInt8.self) } == UInt8(ascii: "t"))
    #expect(data.withBytes { $0.unsafeLoad(fromByteOffset: 1, as: UInt8.self) } == 255)
  }

  @Test func `what the closure throws is thrown`() throws {
    struct Failure: Error {}
    let secret = try Secret("text")

    #expect(throws: Failure.self) { try secret.withValue { _ in throw Failure() } }
    #expect(throws: Failure.self) { try secret.withBytes { (_) throws(Failure) in throw Failure() } }
  }

  @Test func `a secret is copied from bytes that can be wiped`() throws {
    var bytes = Array("token".utf8)
    let text = try Secret<String>(copying: bytes.span.bytes)
    let data = try Secret<Data>(copying: bytes.span.bytes)
    for index in bytes.indices { bytes[index] = 0 }

    #expect(try text.withValue { $0 } == "token")
    #expect(try data.withValue { $0 } == Data("token".utf8))
  }

  @Test func `bytes that are no UTF-8 are no secret text`() {
    let bytes: [UInt8] = [0xC3, 0x28]

    #expect(code { try Secret<String>(copying: bytes.span.bytes) } == .typeMismatch)
  }

  @Test func `secrets are equal by content`() throws {
    let secret = try Secret("one")

    #expect(secret == secret)
    #expect(try secret == Secret("one"))
    #expect(try secret != Secret("two"))
    #expect(try secret != Secret("one and more"))
    #expect(try Secret("") != secret)
    #expect(try Secret(Double.nan) == Secret(Double.nan))
    #expect(try Secret(Int64(1)) == Secret(Int64(1)))
  }

  @Test func `copies share one secret`() throws {
    var copy: Secret<String>?
    do {
      let secret = try Secret("shared")
      copy = secret
    }

    #expect(try copy?.withValue { $0 } == "shared")
  }

  // MARK: In a vault

  @Test func `a secret comes back from a vault without a string between`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set("sealed", forKey: "plain")
    try tokens.set(try Secret("guarded"), forKey: "secret")

    #expect(try tokens.secret(String.self, forKey: "plain") == Secret("sealed"))
    #expect(try tokens.secret(forKey: "secret") == Secret("guarded"))
    #expect(try tokens.string(forKey: "secret") == "guarded")
    #expect(try tokens.secret(String.self, forKey: "absent") == nil)
  }

  @Test func `a secret is written without blocking a task's thread`() async throws {
    let tokens = try ThrowawayVault.current.preferences()

    try await tokens.set(try Secret(Data([7])), forKey: "key")

    #expect(try tokens.data(forKey: "key") == Data([7]))
  }

  @Test func `every kind of value is a secret that comes back`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    func comesBack<Value: PreferenceConvertible & Equatable>(_ value: Value) throws -> Bool {
      try tokens.set(try Secret(value), for: PreferenceKey<Secret<Value>?>("key"))
      return try tokens.value(for: PreferenceKey<Secret<Value>?>("key"))?.withValue { $0 } == value
    }

    #expect(try comesBack("text"))
    #expect(try comesBack(Data([1])))
    #expect(try comesBack(true))
    #expect(try comesBack(Int8.min))
    #expect(try comesBack(UInt64.max))
    #expect(try comesBack(0.1))
    #expect(try comesBack(Date(timeIntervalSinceReferenceDate: 0.5)))
    #expect(try comesBack(#require(URL(string: "https://example.com/?q=1"))))
    #expect(try comesBack(["a", "b"]))
    #expect(try comesBack(["a": Set([1, 2])]))
  }

  @Test func `a stored value of another type is no secret of this one`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set(300, forKey: "number")

    #expect(code { try tokens.secret(String.self, forKey: "number") } == .typeMismatch)
    #expect(code { try tokens.secret(Data.self, forKey: "number") } == .typeMismatch)
    #expect(code { try tokens.secret(Int8.self, forKey: "number") } == .typeMismatch)
    #expect(try tokens.secret(Int.self, forKey: "number") == Secret(300))
  }

  @Test func `removing a secret and setting nil are one`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set(try Secret("t"), for: .token)

    try tokens.set(nil, for: .token)

    #expect(try tokens.value(for: .token) == nil)
    #expect(try tokens.keys() == [])
  }

  // MARK: In layers

  @Test func `item 33: a key typed secret is written to the vault, at any place in the composite`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    let plain = DictionaryPreferences()
    for layers in [[tokens.unclaimed, plain], [plain, tokens.unclaimed]] as [[any PreferencesReader]] {
      for mode in [CompositePreferences.WriteMode.firstStore, .allStores] {
        let preferences = CompositePreferences(layers, writeMode: mode)

        try preferences.set(try Secret(Self.sentinel), for: .token)

        #expect(plain.keys() == [])
        #expect(try tokens.string(forKey: "github.token") == Self.sentinel)
        #expect(try preferences.value(for: .token) == Secret(Self.sentinel))
        try preferences.reset(.token)
        #expect(try tokens.keys() == [])
      }
    }
  }

  @Test func `item 33: a key typed secret is refused where nothing is sealed, through every path`() throws {
    let plain = DictionaryPreferences()
    let secret = try Secret(Self.sentinel)
    func isRefused(_ body: () throws -> Void) -> Bool {
      do { try body() } catch let error as PreferencesError { return error.code == .noStore } catch {}
      return false
    }

    #expect(isRefused { try plain.set(secret, for: .token) })
    #expect(isRefused { try plain.set(secret, forKey: "github.token") })
    #expect(isRefused { try CompositePreferences([plain]).set(secret, for: .token) })
    #expect(isRefused { try plain.below("x.").set(secret, for: .token) })
    #expect(isRefused { try plain.update(.token) { $0 = secret } })
    #expect(isRefused { try plain.preference(for: .token).set(secret) })
    #expect(isRefused { try plain.set(secret, for: PreferenceKey.token) })
    #expect(plain.keys() == [])
  }

  @Test func `item 33: a key typed secret is not looked up in a plain layer`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    let preferences = CompositePreferences([DictionaryPreferences(["github.token": "plain"]), tokens.unclaimed])

    #expect(try preferences.value(for: .token) == nil)
    #expect(try preferences.secret(String.self, forKey: "github.token") == nil)
  }

  @Test func `item 35: with the vault locked a secret key is unavailable and plain keys are not`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set(try Secret("t"), for: .token)
    let preferences = CompositePreferences([
      tokens.unclaimed, DictionaryPreferences(["server.port": 8080, "github.token": "plain"]),
    ])
    ThrowawayVault.current.vault.lock()

    #expect(try preferences.value(for: PreferenceKey("server.port", default: 80)) == 8080)
    #expect(throws: PreferencesError.self) { try preferences.value(for: .token) }
  }

  @Test func `item 34: neither dumps nor explanations of layers show a secret`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set(try Secret(Self.sentinel), for: .token)
    let preferences = CompositePreferences([tokens.claiming(.names(["github.token"])), DictionaryPreferences()])

    let shown: [Any] = [
      tokens, preferences, try preferences.dictionary(), try preferences.explain("github.token"),
      try preferences.value(for: .token) as Any,
    ]
    for value in shown { #expect(traces(of: Self.sentinel, in: value) == []) }
    #expect(try preferences.dictionary(revealingSecrets: true)["github.token"] == .string(Self.sentinel))
  }

  @Test func `a secret is read by a handle, a subscript and a wrapper`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    @StoredPreference(.token, in: tokens) var token

    token = try Secret("wrapped")

    #expect(try token == Secret("wrapped"))
    #expect(try $token.get() == Secret("wrapped"))
    #expect(try tokens[.token] == Secret("wrapped"))
    #expect(try tokens.preference(for: .token).get() == Secret("wrapped"))
  }
}
