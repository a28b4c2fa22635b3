import Foundation
import PreferencesSettings
import Preferences
import Testing

// The code of PreferencesSettings.docc, word for word: Scripts/documents guide compares the two.

struct GuideTests {
  let store = DictionaryPreferences()

  // MARK: PreferencesSettings.md

  @Test func `the first example declares, draws and changes settings`() throws {
    let lines = Received<String>()
    func print(_ title: String, _ value: String, _ control: SettingControl) { lines.add("\(title): \(value)") }

    let store = DictionaryPreferences()
    let timeout = try Setting(
      PreferenceKey("timeout", default: 30), in: store, title: "Timeout", info: "How long to wait for an answer",
      bounds: 1...60, step: 5, format: { "\($0) s" })
    let isQuiet = Setting(PreferenceKey("quiet", default: false), in: store, title: "Quiet")
    let group = SettingGroup("Connection", [timeout, isQuiet])

    for setting in group.settings {
      print(setting.title, try setting.formattedValue, setting.control)
    }
    let problems = group["timeout"]?.problems(in: "90")
    try group["timeout"]?.increase()
    try group["quiet"]?.set(text: "true")

    #expect(lines.all == ["Timeout: 30 s", "Quiet: false"])
    #expect(problems == ["must be between 1 and 60"])
    #expect(try timeout.formattedValue == "35 s")
    #expect(isQuiet.isSet)
  }

  @Test func `settings are described by JSON and by values`() throws {
    let json = #"[{"name": "server.port", "type": "integer", "min": 1, "max": 65535}]"#
    try store.set("swordfish", forKey: "server.password")

    let described = try SettingGroup.groups(describedBy: Data(json.utf8), in: store)
    let inferred = try SettingGroup.groups(inferredFrom: store)

    #expect(described[0]["server.port"]?.control == .stepper(min: "1", max: "65535", step: "1"))
    #expect(try inferred[0]["server.password"]?.formattedValue == "<redacted>")
  }

  // MARK: ComingFromRxPersistenceSettings.md

  @Test func `a plain setting has a value and no steps`() throws {
    let simpleSetting = Setting(PreferenceKey("simpleIntSettingKey", default: 10), in: store)
    simpleSetting.value = 12
    try simpleSetting.increase()  // does nothing

    #expect(try simpleSetting.get() == 12)
  }

  @Test func `a number steps between its bounds`() throws {
    let numericSetting = try Setting(
      PreferenceKey("complexIntSettingKey", default: 1), in: store, title: "Number of cats",
      info: "This setting holds number of cats", bounds: 0...13)
    try numericSetting.increase()  // 2
    try numericSetting.increase()  // 3
    try numericSetting.set(13)

    #expect(numericSetting.value == 13)
    #expect(try numericSetting.isAtMax)
  }

  @Test func `a flag is toggled and read the other way round`() throws {
    let isMuted = Setting(PreferenceKey("muted", default: false), in: store)
    try isMuted.toggle()
    let isLoud = isMuted.inverted(title: "Sound")
    let isSet = isLoud.isSet

    #expect(!isSet)
    #expect(store["muted"] == true)
  }

  @Test func `formatted values arrive as a sequence`() async throws {
    let texts = Received<String>()
    let show: (String) -> Void = { texts.add($0) }
    let numericSetting = try cats(in: store)
    Task { try await numericSetting.set(13) }

    for await text in numericSetting.formattedValues() {
      show(text)
      if text == "13" { break }
    }

    #expect(texts.all.last == "13")
  }

  @Test func `store and format are arguments`() throws {
    let settings = store

    let theme = Setting(PreferenceKey("theme", default: Theme.automatic), in: settings, title: "Theme") { theme in
      theme == .automatic ? "As the system" : theme.rawValue
    }

    #expect(try theme.formattedValue == "As the system")
  }
}
