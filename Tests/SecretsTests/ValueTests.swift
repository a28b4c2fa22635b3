import Foundation
import Preferences
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// Values come back as the type they were written with.
@Suite(.throwawayVault) struct ValueTests {}

extension ValueTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let id: String
    let value: PreferenceValue
    var testDescription: String { id }
  }

  static let samples: [Sample] = [
    Sample(id: "empty string", value: ""),
    Sample(id: "string with NUL", value: .string("a\0b")),
    Sample(id: "string beyond ASCII", value: .string("pässwörd 🔑")),
    Sample(id: "empty data", value: .data(Data())),
    Sample(id: "data that is no text", value: .data(Data([0x00, 0xFF, 0xC3, 0x28]))),
    Sample(id: "true", value: true),
    Sample(id: "false", value: false),
    Sample(id: "one", value: 1),
    Sample(id: "least integer", value: .integer(.min)),
    Sample(id: "greatest integer", value: .integer(.max)),
    Sample(id: "unsigned one", value: .unsignedInteger(1)),
    Sample(id: "greatest unsigned integer", value: .unsignedInteger(.max)),
    Sample(id: "one as a double", value: 1.0),
    Sample(id: "least double", value: .double(.leastNonzeroMagnitude)),
    Sample(id: "infinity", value: .double(.infinity)),
    Sample(id: "date", value: .date(Date(timeIntervalSinceReferenceDate: -12345.678901))),
    Sample(id: "URL with query", value: .url(URL(string: "https://example.com/a?b=c&d=%20")!)),
    Sample(id: "file URL", value: .url(URL(string: "file:///etc/hosts")!)),
    Sample(id: "relative URL", value: .url(URL(string: "a/b?c")!)),
    Sample(id: "empty list", value: []),
    Sample(id: "empty dictionary", value: [:]),
    Sample(
      id: "list of everything",
      value: [
        "s", true, 1, 1.0, 0.5, .unsignedInteger(7), .data(Data([1, 2])), .integer(.min), .unsignedInteger(.max),
        .date(Date(timeIntervalSinceReferenceDate: 0.1)), .url(URL(string: "https://example.com")!),
        .double(.infinity), .double(-.infinity), .double(1e300), [[], [:]], ["k": ["n": [1, 2.5]]],
      ]),
    Sample(
      id: "dictionary with keys like marks",
      value: ["$data": "not data", "$": 1, "$$": 2, "a.b": 3, "": 4, "é": 5, "only": ["$url": "x"]]),
  ]

  @Test(arguments: samples) func `a value comes back as it was written`(_ sample: Sample) throws {
    let secrets = try ThrowawayVault.current.preferences()

    try secrets.set(sample.value, forKey: "key")

    #expect(try secrets.value(forKey: "key") == sample.value)
    #expect(try CompositePreferences([secrets.claiming(.everything)]).value(forKey: "key") == sample.value)
    let again = try SecretPreferences(service: "com.example.test", in: ThrowawayVault.current.reopened())
    #expect(try again.value(forKey: "key") == sample.value)
  }

  @Test(arguments: samples) func `a value in guarded memory has the hash of the same value`(_ sample: Sample) throws {
    func hash(_ content: PreferenceContent) -> Int {
      var hasher = Hasher()
      content.hash(into: &hasher)
      return hasher.finalize()
    }
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set(sample.value, forKey: "key")
    let guarded = try #require(try secrets.guardedValue(for: PreferenceQuery("key")))

    #expect(hash(.guarded(guarded)) == hash(.value(sample.value)))
  }

  @Test(arguments: samples) func `a sync with another sealed store writes a value once`(_ sample: Sample) throws {
    let secrets = try ThrowawayVault.current.preferences()
    let row = DictionaryPreferences()
    let written = Mutex<[String]>([])
    let other = RecordPreferences(isSealed: true, keys: { row.keys() }, get: { try row.value(forKey: $0) }) {
      value, key in
      written.withLock { $0.append(key) }
      try row.edit { try $0.set(value, forKey: key) }
    }
    let key = PreferenceKey<PreferenceValue?>("key")
    let sync = PreferenceSync(secrets, with: other)
    try sync.add(key)

    try secrets.set(sample.value, forKey: "key")

    #expect(row.value(for: try PreferenceQuery("key")) == sample.value)
    #expect(written.withLock(\.self) == ["key", PreferenceSync.timeKey(for: "key")])
    sync.removeAll()
  }

  @Test(arguments: [Double.nan, -0.0]) func `a double keeps what equality does not see`(_ number: Double) throws {
    let secrets = try ThrowawayVault.current.preferences()

    try secrets.set(["alone": .double(number), "listed": [.double(number)]])

    guard case .double(let alone) = try secrets.value(forKey: "alone"),
      case .array(let list) = try secrets.value(forKey: "listed"), case .double(let listed) = list.first
    else {
      Issue.record("not doubles")
      return
    }
    #expect(alone.bitPattern == number.bitPattern)
    #expect(listed.isNaN == number.isNaN && listed.sign == number.sign)
  }

  @Test func `typed getters return values of their own kind only`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set("text", forKey: "text")
    try secrets.set(Data([1]), forKey: "data")

    #expect(try secrets.string(forKey: "text") == "text")
    #expect(try secrets.data(forKey: "data") == Data([1]))
    #expect(try secrets.string(forKey: "nothing") == nil)
    #expect(code { try secrets.data(forKey: "text") } == .typeMismatch)
    #expect(code { try secrets.string(forKey: "data") } == .typeMismatch)
    #expect(throws: PreferencesError.self) { try secrets.bool(forKey: "text") }
  }

  @Test func `bytes are lent of strings and data and of nothing else`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set("text", forKey: "text")
    try secrets.set(Data([1, 2, 3]), forKey: "data")
    try secrets.set(7, forKey: "number")

    #expect(try secrets.withBytes(forKey: "text") { $0.byteCount } == 4)
    #expect(try secrets.withBytes(forKey: "data") { $0.byteCount } == 3)
    #expect(try secrets.withBytes(forKey: "nothing") { $0.byteCount } == nil)
    #expect(code { try secrets.withBytes(forKey: "number") { $0.byteCount } } == .typeMismatch)
    #expect(throws: CancellationError.self) {
      try secrets.withBytes(forKey: "text") { (_) throws in throw CancellationError() }
    }
    #expect(try secrets.withBytes(forKey: "nothing") { (_) throws in throw CancellationError() } == nil)
  }

  @Test(arguments: [0, 1, 3519, 3520, 3521, 4096, 100_000, 1 << 20])
  func `data of any length up to the limit comes back`(_ count: Int) throws {
    let secrets = try ThrowawayVault.current.preferences()
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })

    try secrets.set(data, forKey: "data")

    let isSame = try secrets.data(forKey: "data") == data
    #expect(isSame)
  }

  @Test func `a list nested too deeply to come back is refused`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    func nested(_ depth: Int) -> PreferenceValue { (0..<depth).reduce(1) { inner, _ in [inner] } }

    try secrets.set(nested(128), forKey: "deep")

    #expect(try secrets.value(forKey: "deep") == nested(128))
    let error = #expect(throws: PreferencesError.self) { try secrets.set(nested(129), forKey: "deeper") }
    #expect(error?.code == .limitExceeded)
    #expect(try secrets.keys() == ["deep"])
  }

  @Test func `a value over the limit is refused and the old one stays`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set("old", forKey: "key")

    #expect(code { try secrets.set(Data(count: 1 << 20 + 1), forKey: "key") } == .valueTooLarge)
    #expect(try secrets.string(forKey: "key") == "old")
  }
}

/// The class of the error that `body` throws; nil when it throws none.
func code<R>(_ body: () throws -> R) -> VaultError.Code? {
  do {
    _ = try body()
    return nil
  } catch { return (error as? VaultError)?.code }
}
