import Preferences
import Testing

extension PreferenceKey<Int> {
  fileprivate static var port: Self { .init("server.port", default: 8080) }
}

extension PreferenceKey<String?> {
  fileprivate static var proxyHost: Self { .init("proxy.host") }
}

extension PreferenceKey<[String: Bool]> {
  fileprivate static let flags = Self("flags", default: [:])
}

struct PreferenceKeyTests {
  let store = DictionaryPreferences()

  @Test func `a key that is not set reads as its default, which is not stored`() throws {
    #expect(try store.value(for: .port) == 8080)
    #expect(try store.value(for: .proxyHost) == nil)
    #expect(store.keys().isEmpty)
  }

  @Test func `a key reads what was set`() throws {
    try store.set(443, for: .port)
    try store.set("proxy.example", for: .proxyHost)
    try store.set(["fast": true], for: .flags)
    #expect(try store.value(for: .port) == 443)
    #expect(try store.value(for: .proxyHost) == "proxy.example")
    #expect(try store.value(for: .flags) == ["fast": true])
    #expect(try store.value(forKey: "server.port") == .integer(443))
  }

  @Test func `setting nil removes an optional key`() throws {
    try store.set("proxy.example", for: .proxyHost)
    #expect(try store.set(nil, for: .proxyHost) == .visible)
    #expect(try store.contains("proxy.host") == false)
    #expect(try store.value(for: .proxyHost) == nil)
  }

  @Test func `a stored value of another type is an error, not the default`() throws {
    try store.set("\(sentinel)", forKey: "server.port")
    let error = preferencesError { _ = try store.value(for: .port) }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message == "key \"server.port\": expected integer, found string")
  }

  @Test(arguments: ["a", "server.port", " ", "ключ", "🦊", "a/b=c", String(repeating: "é", count: 512)])
  func `a key of up to 1024 bytes without control characters is accepted`(name: String) throws {
    #expect(try PreferenceName(name).text == name)
    try store.set(true, forKey: name)
    #expect(try store.bool(forKey: name) == true)
  }

  static let invalidNames = [
    "", "a\0b", "line\n", "\u{1F}", "\u{7F}", "\u{85}", "\u{9F}", String(repeating: "a", count: 1025),
    String(repeating: "é", count: 512) + "a",
  ]

  @Test(arguments: invalidNames)
  func `any other key is refused by every call of every store`(name: String) {
    let readers: [any PreferencesReader] = [
      store, EnvironmentPreferences(environment: [:]), CompositePreferences([store]), FixedPreferences(),
    ]
    for reader in readers {
      #expect(preferencesError { _ = try reader.string(forKey: name) }?.code == .invalidKey)
      #expect(
        preferencesError { _ = try reader.value(for: PreferenceKey(name, default: 1)) }?.code == .invalidKey)
      #expect(preferencesError { _ = try reader.contains(name) }?.code == .invalidKey)
    }
    for store in [store, CompositePreferences([store])] as [any PreferencesStore] {
      #expect(preferencesError { _ = try store.value(forKey: name) }?.code == .invalidKey)
      #expect(preferencesError { _ = try store.set(1, forKey: name) }?.code == .invalidKey)
      #expect(
        preferencesError { _ = try store.set(1, for: PreferenceKey(name, default: 0)) }?.code == .invalidKey)
      #expect(preferencesError { _ = try store.removeValue(forKey: name) }?.code == .invalidKey)
    }
    #expect(preferencesError { _ = try CompositePreferences([store]).explain(name) }?.code == .invalidKey)
  }

  @Test func `control characters are found at every place, and nothing else is taken for one`() {
    // Beside them bytes that begin, end or look like one: C2 A0, C3 80, 20, 7E, E2 80 8B, F0 9F A6 8A.
    let scalars = (0...0x180).compactMap(Unicode.Scalar.init) + ["\u{200B}", "\u{1F98A}", "\u{820}", "\u{AC2}"]
    let neighbours = ["", "a", "\u{C2}", "\u{A0}", "é", "🦊"]
    var wrong: [String] = []
    for scalar in scalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      for before in 0...17 {
        for neighbour in neighbours {
          let name = String(repeating: "x", count: before) + neighbour + String(scalar) + neighbour + "tail"
          let isRefused = preferencesError { _ = try PreferenceName(name) } != nil
          if isRefused != isControl { wrong.append("\(before) \(neighbour) \(scalar.value)") }
        }
      }
    }
    #expect(wrong == [])
  }

  @Test func `composed and decomposed accents are one key`() throws {
    try store.set(1, forKey: "caf\u{E9}")
    #expect(try store.integer(forKey: "cafe\u{301}") == 1)
  }

  @Test func `a raw-valued type of a different package needs no conformance`() throws {
    enum Level: String { case debug, info }
    let level = PreferenceKey("log.level", rawValue: Level.self, default: .info)
    let optional = PreferenceKey<Level?>("log.level", rawValue: Level.self)

    #expect(try store.value(for: level) == .info)
    #expect(try store.value(for: optional) == nil)
    try store.set(.debug, for: level)
    #expect(try store.value(forKey: "log.level") == "debug")
    #expect(try store.value(for: optional) == .debug)
    try store.set(nil, for: optional)
    #expect(store.keys().isEmpty)
  }

  @Test func `a raw value without an instance is out of range, and text layers parse the raw value's kind`() throws {
    enum Level: Int { case low = 1 }
    let level = PreferenceKey("level", rawValue: Level.self, default: .low)

    #expect(try EnvironmentPreferences(prefix: "SHOP", environment: ["SHOP_LEVEL": "1"]).value(for: level) == .low)
    try store.set(7, forKey: "level")
    let error = #expect(throws: PreferencesError.self) { try store.value(for: level) }
    #expect(error?.code == .outOfRange)
  }
}
