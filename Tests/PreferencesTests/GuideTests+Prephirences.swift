import FoundationEssentials
import Preferences
import PreferencesOperators
import Testing

enum SettingName: String {
  case motd
  case enabled = "server.enabled"
}

struct Accent: Codable, Equatable {
  var red, green, blue: Double
}

enum Volume: Int, Sendable { case low = 1, high }

// ComingFromPrephirencesAndDefaults.md: Prephirences, up to transformations.
extension GuideTests {
  @Test func `Prephirences: a store is made of values`() throws {
    let values: [String: PreferenceValue] = ["myKey": "myValue"]
    let myDictionary: [String: Any] = ["myKey": "myValue", "list": [1, true] as [Any]]

    let fromValues = DictionaryPreferences(values)
    let fromLiteral: DictionaryPreferences = ["myKey": "myValue", "bool": true]
    let fromTexts = DictionaryPreferences(["myKey": "myValue"] as [String: String])
    let fromAny = try DictionaryPreferences(converting: myDictionary)

    #expect(fromTexts["myKey"] == "myValue")
    #expect(try fromAny.array(forKey: "list") == [1, true])
    #expect(fromValues["myKey"] == "myValue")
    #expect(fromLiteral["bool"] == true)
  }

  @Test func `Prephirences: a store is made of a file`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/prefs.plist"
      try DictionaryPreferences(["a": 1]).write(to: path, format: PropertyListFormat())

      let fromFile = try DictionaryPreferences(contentsOf: path, format: PropertyListFormat())

      #expect(fromFile["a"] == 1)
    }
  }

  @Test func `Prephirences: values are read`() throws {
    let settings: DictionaryPreferences = ["myKey": "myValue", "bool": true, "ports": ["http": 80]]

    let value = try settings.value(forKey: "myKey")
    let text = try settings.string(forKey: "myKey")
    let enabled = settings["bool"]?.as(Bool.self)
    let flag = try settings.bool(forKey: "bool") ?? false
    let hasKey = try settings.contains("myKey")
    let member = settings.members.myKey
    let hosts = try settings.stringArray(forKey: "hosts") ?? []
    let ports = try settings.value(forKey: "ports", as: [String: Int].self)

    #expect(hosts.isEmpty && ports == ["http": 80])
    #expect(value == "myValue" && text == "myValue" && member == "myValue")
    #expect(enabled == true && flag && hasKey)
    #expect(try settings.bool(forKey: "none") == nil)
    #expect(preferencesError { _ = try settings.bool(forKey: "myKey") }?.code == .typeMismatch)
  }

  @Test func `Prephirences: the cases of an enum are names`() throws {
    let settings: DictionaryPreferences = ["motd": "hello", "server.enabled": true]

    let motd = try settings.value(forKey: SettingName.motd)
    let first = settings[SettingName.motd]
    let isEnabled = try settings.bool(forKey: SettingName.enabled) ?? false
    let enabling: Preference<Bool> = settings <| SettingName.enabled

    #expect(try enabling.get() == true)
    #expect(motd == "hello" && first == "hello" && isEnabled)
  }

  @Test func `Prephirences: values are changed`() throws {
    let settings: DictionaryPreferences = ["myKey": "myValue"]
    let text = "text"

    settings["newKey"] = "newValue"
    settings["newKey"] = text
    try settings.set("myValue", forKey: "newKey")
    try settings.set(true, forKey: "newKey")
    try settings += ["newKey": "newValue", "otherKey": true]
    try settings -= "myKey"

    #expect(try settings.dictionary() == ["newKey": "newValue", "otherKey": true])
  }

  @Test func `Prephirences: one number is taken out and calculated with`() throws {
    let byMethod: Preference<Int> = settings.preference("visits")
    let visits: Preference<Int> = settings <| "visits"

    try visits++
    try visits--
    try visits += 30
    try visits -= 30
    try visits *= 20
    try visits %= 7
    try visits /= 3

    #expect(byMethod.value == 0)
    try visits += 5
    let text =
      switch visits {
      case 1: "one"
      case 2...10: "a few"
      default: "none, or many"
      }
    #expect(text == "a few")
    #expect(throws: PreferencesError.self) { try visits /= 0 }
    #expect(visits.value == 5)
  }

  @Test func `Prephirences: one truth value is taken out`() throws {
    let isOpen: Preference<Bool> = settings <| "isOpen"

    try isOpen &= false
    try isOpen |= true
    try isOpen.set(false)
    try isOpen.toggle()

    #expect(isOpen.value == true)
  }

  @Test func `Prephirences: a value is applied to, and its type is changed`() throws {
    let title: Preference<String> = settings <| "title"
    try title.set("hello")
    let isOpen: Preference<Bool> = settings <| "isOpen"
    try isOpen.set(true)

    try title.apply { $0?.uppercased() }
    let level = try isOpen.rewrite(as: Int.self) { $0 == true ? 1 : 0 }

    #expect(title.value == "HELLO" && level.value == 1)
    #expect(settings["isOpen"] == 1)
  }

  @Test func `Prephirences: another value is substituted`() throws {
    let count: Preference<Int> = (settings <| "count")
      .whenNil(use: 100)
      .ensure(when: { $0.map { $0 < 100 } ?? true }, use: 100)

    #expect(count.value == 100)
    try count.set(50)
    #expect(count.value == 100)
    #expect(settings["count"] == 50)
  }

  @Test func `Prephirences: properties are wrapped`() throws {
    let store = settings

    struct Wrapped {
      @StoredPreference("enabled") var isEnabled: Bool?
      @StoredPreference("title") var title = "untitled"
    }

    struct Settings {
      @StoredPreference var isEnabled: Bool?
      init(_ store: any PreferencesStore) { _isEnabled = StoredPreference("enabled", in: store) }
    }

    let registry = PreferencesRegistry()
    registry.share(store)
    PreferencesRegistry.with(registry) {
      Wrapped().isEnabled = true
      #expect(Wrapped().title == "untitled")
    }
    #expect(Settings(store).isEnabled == true)
  }

  // MARK: Transformations

  @Test func `Prephirences: a value is transformed on its way`() throws {
    let hex = TwoWayTransformation<String, Int>(
      reading: { Int($0, radix: 16) ?? 0 }, writing: { String($0, radix: 16) })

    settings["aKey", hex] = 255
    let read = settings["aKey", hex]
    let transformed = (settings <| "aKey").transformed(by: hex)

    #expect(settings["aKey"] == "ff" && read == 255 && transformed.value == 255)
    try transformed.set(16)
    #expect(settings["aKey"] == "10")
  }

  @Test func `Prephirences: a raw value is stored`() throws {
    let level = (settings <| "volume").transformed(by: RawValueTransformation(Volume.self))
    try level.set(.high)

    #expect(settings["volume"] == 2)
  }

  @Test func `Prephirences: what is Codable is stored without an archive`() throws {
    let blue = Accent(red: 0, green: 0, blue: 1)

    try settings.set(encoding: blue, forKey: "accent")
    let accent = try settings.value(forKey: "accent", decoding: Accent.self)
    let handle = settings <| PreferenceKey<Accent?>.codable("accent")
    try handle.set(Accent(red: 1, green: 0, blue: 0))

    #expect(accent == blue)
    #expect(settings["accent"] == ["red": 1.0, "green": 0.0, "blue": 0.0])
  }

  @Test func `Prephirences: what is Codable is stored as JSON`() throws {
    let blue = Accent(red: 0, green: 0, blue: 1)

    settings["accent", JSONTransformation(Accent.self)] = blue
    settings["text", JSONTransformation(Accent.self).asText] = blue

    #expect(settings["accent"]?.kind == .data)
    #expect(settings["text"] == #"{"blue":1,"green":0,"red":0}"#)
  }
}
