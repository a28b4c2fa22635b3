import Foundation
import Preferences
import Secrets
import SecretsTesting
import Synchronization
import Testing

private let sentinel = "SENTINEL-5f3a"

/// Errors of secrets have nothing of the value: neither the error, nor its mirror, nor its causes.
@Suite(.throwawayVault) struct SecretErrorTests {}

private enum Level: String, Codable, Sendable { case low }
private struct Server: Codable, Sendable { var level: Level }

/// Throws the value that it reads or writes.
private struct Leaking: Codable, Sendable {
  struct Leak: Error { let text: String }
  init() {}
  init(from decoder: any Decoder) throws { throw Leak(text: try String(from: decoder)) }
  func encode(to encoder: any Encoder) throws { throw Leak(text: sentinel) }
}

private struct LeakingCoding: Codable, Sendable {
  init() {}
  init(from decoder: any Decoder) throws {
    let text = try String(from: decoder)
    throw DecodingError.dataCorrupted(
      .init(codingPath: [], debugDescription: text, underlyingError: Leaking.Leak(text: text)))
  }
  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(sentinel, .init(codingPath: [], debugDescription: sentinel))
  }
}

/// Has the entries of a dictionary as coding keys.
private struct Keyed: Codable, Sendable {
  enum Key: CodingKey {
    case dynamic(String)
    init?(stringValue: String) { self = .dynamic(stringValue) }
    init?(intValue: Int) { return nil }
    var stringValue: String { if case .dynamic(let text) = self { text } else { "" } }
    var intValue: Int? { nil }
  }
  init() {}
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode([Int?.none], forKey: .dynamic(sentinel))
  }
}

private struct LeakingTransformation: PreferenceTransformation {
  func value(from stored: String) throws -> Int { throw Leaking.Leak(text: stored) }
  func stored(from value: Int) throws -> String { throw Leaking.Leak(text: sentinel) }
}

/// A declared key of a secret that is an ordinary value.
private func secretKey<Value: Codable & Sendable>(_ name: String) -> PreferenceKey<Value?> {
  let key = PreferenceKey<Value?>.codable(name)
  return PreferenceKey(
    name, kind: key.kind, secrecy: .secret, makeDefault: { nil }, decode: key.decode, encode: key.encode)
}

/// The errors of calls that must fail.
private struct Failures {
  private(set) var errors: [(String, any Error)] = []

  mutating func attempt(_ name: String, _ body: () throws -> some Any) {
    do {
      _ = try body()
      Issue.record("\(name) has not failed")
    } catch { errors.append((name, error)) }
  }
}

extension SecretErrorTests {
  /// The errors of each way to read a value that does not decode, and to write one that does not encode.
  private static func errors<Reader: PreferencesReader>(of reader: Reader) -> [(String, any Error)] {
    var failures = Failures()
    func read<Value: Codable & Sendable>(_ key: String, _ type: Value.Type) {
      failures.attempt("\(key) decoding") { try reader.value(forKey: key, decoding: type) }
      failures.attempt("\(key) stored") { try reader.storedValue(for: PreferenceKey<Value?>.codable(key)) }
      failures.attempt("\(key) required") { try reader.required(PreferenceKey<Value?>.codable(key)) }
      failures.attempt("\(key) secret") { try reader.secret(forKey: key, decoding: type) }
    }
    read("text", Level.self)
    read("text", Leaking.self)
    read("text", LeakingCoding.self)
    read("text", Int.self)
    read("object", Server.self)
    read("object", [String: Int].self)
    read("object", [Int].self)
    read("names", [String: Int].self)
    read("names", [String: [Level]].self)
    read("names", Server.self)
    read("names", Keyed.self)
    failures.attempt("converted") { try reader.value(forKey: "names", as: [String: Int].self) }
    failures.attempt("default") { try reader.value(for: .codable("text", default: Leaking())) }
    failures.attempt("raw") { try reader.value(for: PreferenceKey<Level?>("text", rawValue: Level.self)) }
    failures.attempt("typed") { try reader.integer(forKey: "text") }
    failures.attempt("date") { try reader.date(forKey: "text") }
    failures.attempt("transformed") { try reader.value(forKey: "text", through: LeakingTransformation()) }
    failures.attempt("transformed key") {
      try reader.value(for: PreferenceKey<Int?>("text", through: LeakingTransformation()))
    }
    let reported = Mutex<[any Error]>([])
    PreferenceFailures.withHandler({ failure in reported.withLock { $0.append(failure.error) } }) {
      _ = reader[PreferenceKey<Leaking?>.codable("text")]
      _ = reader["text", LeakingTransformation()]
      _ = ReadPreference(.codable("names", default: ["": 0]), in: reader).wrappedValue
    }
    #expect(reported.withLock { $0.count } == 3)
    return failures.errors + reported.withLock { $0.map { ("reported", $0) } }
  }

  private static func writeErrors(of store: some PreferencesStore) -> [(String, any Error)] {
    var failures = Failures()
    failures.attempt("set") { try store.set(encoding: Leaking(), forKey: "text") }
    failures.attempt("set keyed") { try store.set(encoding: Keyed(), forKey: "text") }
    failures.attempt("edit") { try store.edit { try $0.set(Leaking(), for: secretKey("text")) } }
    failures.attempt("edit keyed") { try store.edit { try $0.set(Keyed(), for: secretKey("text")) } }
    failures.attempt("set coding") { try store.set(encoding: LeakingCoding(), forKey: "text") }
    failures.attempt("set transformed") { try store.set(1, forKey: "text", through: LeakingTransformation()) }
    failures.attempt("update") { try store.update(PreferenceKey<Leaking?>.codable("text")) { $0 = nil } }
    failures.attempt("update new") {
      try store.update(PreferenceKey<LeakingCoding?>.codable("new")) { $0 = LeakingCoding() }
    }
    return failures.errors
  }

  private static func filled() throws -> SecretPreferences {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set(sentinel, forKey: "text")
    try secrets.set(["level": .string(sentinel)], forKey: "object")
    try secrets.set([sentinel: [.string(sentinel)]], forKey: "names")
    return secrets
  }

  /// An error, its causes, and what Foundation makes of them.
  private static func found(in error: any Error) -> [String] {
    let bridged = error as NSError
    let texts = [error.localizedDescription, bridged.debugDescription, "\(bridged.userInfo)"]
    var places = traces(of: sentinel, in: error) + texts.filter { $0.contains(sentinel) }
    if let cause = (error as? PreferencesError)?.cause ?? (error as? VaultError)?.cause { places += found(in: cause) }
    return places
  }

  @Test func `an error of a vault's store has nothing of the value`() throws {
    let secrets = try Self.filled()
    for (name, error) in Self.errors(of: secrets) + Self.writeErrors(of: secrets) {
      #expect(Self.found(in: error) == [], "\(name): \(type(of: error))")
    }
  }

  @Test func `an error of a snapshot, a view or a composite has nothing of the value`() throws {
    let secrets = try Self.filled()
    let view = secrets.claiming(.everything)
    let composite = CompositePreferences([DictionaryPreferences(), view])
    for errors in [
      Self.errors(of: try secrets.snapshot()), Self.errors(of: view), Self.errors(of: composite),
      Self.errors(of: CompositePreferences([composite])), Self.writeErrors(of: composite),
    ] {
      for (name, error) in errors { #expect(Self.found(in: error) == [], "\(name): \(type(of: error))") }
    }
  }

  @Test func `an error of a secret key's own conversions has nothing of the value`() throws {
    var failures = Failures()
    let names: PreferenceValue = [sentinel: [.string(sentinel)]]
    failures.attempt("decoded") { try (secretKey("k") as PreferenceKey<[String: Int]?>).decoded(names) }
    failures.attempt("keyed") { try (secretKey("k") as PreferenceKey<Keyed?>).decoded(names) }
    failures.attempt("content") { try secretKey("k").content(of: Leaking()) }
    for (name, error) in failures.errors { #expect(Self.found(in: error) == [], "\(name): \(type(of: error))") }
  }

  @Test func `an error of a migration has nothing of a secret`() throws {
    let secrets = try Self.filled()
    let (names, text): (PreferenceKey<[String: Int]?>, PreferenceKey<String?>) = (secretKey("names"), secretKey("text"))
    let leaking: PreferenceKey<Leaking?> = secretKey("new")
    var failures = Failures()
    for (name, step) in [
      ("read", PreferenceMigration.Step.convert(names, to: text) { _ in "" }),
      ("read claimed", .convert(PreferenceKey<[String: Int]?>("names"), to: text) { _ in "" }),
      ("written", .convert(text, to: leaking) { _ in Leaking() }),
      ("written claimed", .convert(text, to: PreferenceKey<Leaking?>.codable("new")) { _ in Leaking() }),
    ] {
      failures.attempt(name) { try PreferenceMigrator([PreferenceMigration(to: 1, [step])]).run(on: secrets) }
    }
    for (name, error) in failures.errors { #expect(Self.found(in: error) == [], "\(name): \(type(of: error))") }
  }

  @Test func `the error of a secret names the declared entry`() throws {
    let secrets = try Self.filled()
    try secrets.set(["other": 1], forKey: "object")

    let error = #expect(throws: PreferencesError.self) { try secrets.value(forKey: "object", decoding: Server.self) }
    #expect(error?.message == "key \"object\": entry \"level\": it is missing")
  }

  @Test func `the error of a plain value keeps its cause, which no dump shows`() throws {
    let plain = DictionaryPreferences(["text": .string(sentinel)])

    let error = #expect(throws: PreferencesError.self) { try plain.value(forKey: "text", decoding: Leaking.self) }
    #expect(error?.cause is Leaking.Leak)
    #expect(traces(of: sentinel, in: try #require(error)) == [])
    let wrapped = VaultError(.io, "text", cause: error?.cause)
    #expect(traces(of: sentinel, in: wrapped) == [])
  }
}
