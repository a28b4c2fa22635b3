import Foundation
import PreferencesSettings
import Preferences
import Secrets
import Testing

/// Settings whose value is one of several, and the initializers that Swift chooses.
struct ChoiceSettingTests {
  let store = DictionaryPreferences()

  @Test func `an enumeration offers its cases with titles`() throws {
    let setting = Setting(.theme, in: store) { $0 == .automatic ? "As the system" : $0.rawValue.capitalized }
    #expect(
      setting.control
        == .choice([
          SettingChoice(text: "light", title: "Light"), SettingChoice(text: "dark", title: "Dark"),
          SettingChoice(text: "automatic", title: "As the system"),
        ]))
    #expect(try setting.formattedValue == "As the system")
    try setting.set(text: "dark")
    #expect(store["theme"] == "dark")
    #expect(try setting.formattedValue == "Dark")
  }

  @Test func `a value that is no choice is refused`() throws {
    let setting = Setting(PreferenceKey("port", default: 80), in: store, choices: [80, 8080])
    #expect(setting.problems(in: "81") == ["must be one of the choices"])
    #expect(preferencesError { try setting.set(81) }?.code == .outOfRange)
    try setting.set(8080)
    try store.set(81, forKey: "port")
    #expect(preferencesError { _ = try setting.get() }?.code == .outOfRange)
  }

  @Test func `a stored text that is no case is refused`() throws {
    try store.set("pink", forKey: "theme")
    #expect(preferencesError { _ = try Setting(.theme, in: store).get() }?.code == .outOfRange)
  }

  @Test func `each type has one initializer and its control`() throws {
    #expect(Setting(PreferenceKey("a", default: ""), in: store).control == .text)
    #expect(Setting(PreferenceKey<String?>("a"), in: store).control == .text)
    #expect(Setting(PreferenceKey("a", default: false), in: store).control == .toggle)
    #expect(Setting(PreferenceKey("a", default: 1), in: store).control == .text)
    #expect(
      try Setting(PreferenceKey("a", default: 1), in: store, bounds: 1...2).control
        == .stepper(min: "1", max: "2", step: "1"))
    #expect(
      try Setting(PreferenceKey("a", default: 1.5), in: store, bounds: 1...2).control
        == .stepper(min: "1.0", max: "2.0", step: "1.0"))
    let isChoice = if case .choice = Setting(.theme, in: store).control { true } else { false }
    #expect(isChoice)
    #expect(Setting(PreferenceKey<Theme?>("a"), in: store).control == .text)
    #expect(Setting(PreferenceKey("a", default: [1]), in: store).control == .readOnly)
    #expect(Setting(PreferenceKey<Secret<String>?>("a"), in: store).control == .secret)
    #expect(Setting(PreferenceKey<URL?>("a"), in: store).control == .text)
    #expect(Setting(PreferenceKey("a", default: Date.distantPast), in: store).control == .text)
    let rule = Setting(PreferenceKey<Int?>("a"), in: store, rules: [Rule("must not be three") { $0 != 3 }])
    #expect(rule.problems(in: "3") == ["must not be three"])
  }
}
