import Foundation
import PreferencesSettings
import Preferences
import Testing

/// A setting without bounds.
struct SettingTests {
  let store = DictionaryPreferences()

  @Test func `item 85: title and info are empty unless given, and the key has name and default`() {
    let plain = Setting(PreferenceKey("host", default: "localhost"), in: store)
    #expect([plain.title, plain.info, plain.name, plain.key.defaultValue] == ["", "", "host", "localhost"])
    let described = Setting(PreferenceKey("host", default: ""), in: store, title: "Host", info: "Where to listen")
    #expect([described.title, described.info] == ["Host", "Where to listen"])
  }

  @Test func `item 85: a missing value is the default, and no failure`() {
    let setting = Setting(PreferenceKey("host", default: "localhost"), in: store)
    #expect(reporting { setting.value } == ("localhost", []))
    #expect(store["host"] == nil)
  }

  @Test func `item 85: a value of the wrong type is the default and a failure, and get throws`() throws {
    let setting = Setting(PreferenceKey("host", default: "localhost"), in: store)
    try store.set(7, forKey: "host")
    #expect(reporting { setting.value } == ("localhost", ["host"]))
    #expect(preferencesError { _ = try setting.get() }?.code == .typeMismatch)
    #expect(store["host"] == 7)
  }

  @Test(arguments: ["\n", "\r", "\r\n", "\u{2028}", "\u{2029}", "\u{85}", "\u{B}", "\u{C}"])
  func `a line of text has no line break of any kind`(lineBreak: String) throws {
    let setting = Setting(PreferenceKey("host", default: ""), in: store)
    let text = "a\(lineBreak)b"
    #expect(preferencesError { try setting.set(text: text) }?.code == .outOfRange)
    #expect(setting.problems(in: text) == ["has several lines"])
    #expect(store["host"] == nil)
  }

  @Test func `a change in place writes nothing if the value cannot be read or breaks a rule`() throws {
    let setting = Setting(PreferenceKey("cats", default: 0), in: store, rules: [.range(0...100)])
    for unreadable: PreferenceValue in ["text", 500] {
      try store.set(unreadable, forKey: "cats")
      #expect(reporting { setting.value += 1 }.1 == ["cats"])
      #expect(store["cats"] == unreadable)
    }
    try store.set(5, forKey: "cats")
    #expect(reporting { setting.value += 1 }.1 == [])
    #expect(store["cats"] == 6)
  }

  @Test func `item 31: a hidden write of the value is done and reported`() throws {
    let above = DictionaryPreferences(["cats": 7], name: "above")
    let setting = Setting(PreferenceKey("cats", default: 0), in: CompositePreferences([above.readOnly, store]))
    #expect(reporting { setting.value = 3 }.keys == ["cats"])
    #expect(store["cats"] == 3)
    #expect(setting.value == 7)
  }

  @Test func `item 86: any value is formatted as the stored one`() throws {
    let cats = try cats(in: store)
    try cats.set(5)
    #expect(try cats.format(value: 5) == cats.formattedValue)
    #expect(Setting(.cats, in: store, format: { "\($0) cats" }).format(value: 2) == "2 cats")
    var hidden = Setting(.cats, in: store) { "\($0) cats" }
    hidden.isHidden = true
    #expect(hidden.format(value: 2) == "<redacted>")
  }

  @Test func `each write returns the layer that hides it, in both forms`() async throws {
    let above = DictionaryPreferences(["cats": 7, "muted": true], name: "above")
    let layers = CompositePreferences([above.readOnly, store])
    let (cats, muted) = (try cats(in: layers), Setting(.isMuted, in: layers))
    func writes() throws -> [WriteOutcome] {
      try [
        cats.set(3), cats.set(text: "4"), cats.update { $0 += 1 }, cats.increase(), cats.decrease(), muted.toggle(),
        cats.reset(),
      ]
    }
    #expect(try writes() == Array(repeating: .shadowed(by: "above"), count: 7))
    let any: any AnySetting = cats
    #expect(try await any.set(text: "4") == .shadowed(by: "above"))
    #expect(try await any.increase() == .shadowed(by: "above"))
    #expect(try await any.decrease() == .shadowed(by: "above"))
    #expect(try await any.reset() == .shadowed(by: "above"))
    #expect(try await Setting(.cats, in: store).set(3) == .visible)
  }

  @Test func `the empty text of a list is not taken for its removal`() throws {
    let list = Setting(PreferenceKey<[String]?>("hosts"), in: store)
    try store.set(["a"], forKey: "hosts")
    #expect(list.control == .readOnly)
    #expect(preferencesError { try list.set(text: try list.text) }?.code == .outOfRange)
    #expect(store["hosts"] == ["a"])
  }

  @Test func `where a hidden number is between its bounds is hidden, too`() throws {
    var setting = try Setting(PreferenceKey("pin", default: 1), in: store, bounds: 0...1)
    #expect(try (setting.isAtMin, setting.isAtMax) == (false, true))
    setting.isHidden = true
    #expect(try (setting.isAtMin, setting.isAtMax) == (false, false))
  }

  @Test func `a value that breaks a rule is neither stored nor returned`() async throws {
    let setting = Setting(PreferenceKey("host", default: "localhost"), in: store, rules: [.length(...9)])
    #expect(preferencesError { try setting.set("a.long.name.of.a.host") }?.code == .outOfRange)
    #expect(await preferencesError { try await setting.set("a.long.name.of.a.host") }?.code == .outOfRange)
    #expect(preferencesError { try setting.update { $0 += ".example" } }?.code == .outOfRange)
    #expect(await preferencesError { try await setting.update { $0 += ".example" } }?.code == .outOfRange)
    #expect(reporting { setting.value = "a.long.name.of.a.host" }.keys == ["host"])
    #expect(store["host"] == nil)

    try await store.set("a.long.name.of.a.host", forKey: "host")
    #expect(preferencesError { _ = try setting.get() }?.code == .outOfRange)
    #expect(reporting { setting.value } == ("localhost", ["host"]))
    #expect(try setting.text == "a.long.name.of.a.host")
  }

  @Test func `an error has all messages of the rules and not the value`() throws {
    let setting = Setting(
      PreferenceKey("host", default: ""), in: store, rules: [.length(...4), .matching(/[a-z]*/, "must be lower case")])
    let error = try #require(preferencesError { try setting.set(hiddenText) })
    #expect("\(error)".contains("must have at most 4 characters and must be lower case"))
    #expect(!"\(error)".contains(hiddenText))
  }

  @Test func `a rule may demand a value that the default is not`() throws {
    let setting = Setting(PreferenceKey("host", default: ""), in: store, rules: [.notBlank])
    #expect(try setting.get() == "")
    #expect(setting.problems(in: "") == ["must not be blank"])
  }

  @Test func `rules of an optional value are those of the value`() throws {
    let setting = Setting(PreferenceKey<Int?>("port"), in: store, rules: [.range(1...65_535)])
    try setting.set(nil)
    #expect(preferencesError { try setting.set(0) }?.code == .outOfRange)
    try setting.set(text: "80")
    #expect(store["port"] == 80)
    try setting.set(text: "")
    #expect(store["port"] == nil)
    let demanded = Setting(PreferenceKey<String?>("host"), in: store, rules: [.notBlank])
    #expect(preferencesError { try demanded.set(nil) }?.code == .outOfRange)
  }

  @Test func `item 86: the formatted value and its sequence use the format`() async throws {
    let setting = Setting(PreferenceKey("wait", default: 3), in: store) { "\($0) s" }
    #expect(try setting.formattedValue == "3 s")
    #expect(try setting.text == "3")
    let values = try await setting.formattedValues().collected(3) { try await store.set($0, forKey: "wait") }
    #expect(values == ["3 s", "1 s", "2 s"])
  }

  @Test func `item 87: a setting without bounds has no steps`() async throws {
    let setting = Setting(.cats, in: store)
    _ = try { try setting.increase() }()
    try await setting.decrease()
    #expect(store["cats"] == nil)
    #expect(!setting.isNumeric)
    #expect(try !setting.isAtMin && !setting.isAtMax)
    #expect(setting.min == nil && setting.max == nil && setting.step == nil)
    #expect(setting.control == .text)
  }

  @Test func `arrays and dictionaries are shown and not edited as text`() throws {
    let hosts = Setting(PreferenceKey("hosts", default: ["a", "b\n"]), in: store)
    #expect(hosts.control == .readOnly)
    #expect(try hosts.formattedValue == #"["a", "b\n"]"#)
    #expect(try hosts.text == "")
    #expect(hosts.problems(in: "c") == ["is not editable as text"])
    #expect(preferencesError { try hosts.set(text: "c") }?.code == .typeMismatch)
    try hosts.update { $0.append("c") }
    #expect(store["hosts"] == ["a", "b\n", "c"])
  }

  @Test(arguments: [
    "2026-01-31T12:00:00Z": PreferenceValue.date(Date(timeIntervalSinceReferenceDate: 791_553_600)),
    "https://example.com/a?b": .url(URL(string: "https://example.com/a?b")!), "AAE=": .data(Data([0, 1])),
    "1.5": .double(1.5), "18446744073709551615": .unsignedInteger(.max), "-1": .integer(-1), "true": true,
  ])
  func `the text of a value is what sets it`(_ text: String, _ value: PreferenceValue) throws {
    let key = PreferenceKey<PreferenceValue?>(
      "any", kind: value.kind, makeDefault: { nil }, decode: { value throws(PreferencesError) in value },
      encode: { value throws(PreferencesError) in value })
    let setting = Setting(key, in: store)
    try setting.set(text: text)
    #expect(store["any"] == value)
    #expect(try setting.text == text)
  }
}
