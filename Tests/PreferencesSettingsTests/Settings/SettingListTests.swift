import PreferencesSettings
import Preferences
import SecretsTesting
import Testing

/// Settings as a screen sees them: without the types of their values.
struct SettingListTests {
  let store = DictionaryPreferences(["cats": 12, "name": "Tom"])

  private func group() throws -> SettingGroup {
    SettingGroup(
      "House",
      [
        try cats(in: store), Setting(.isMuted, in: store, title: "Muted"), Setting(.theme, in: store),
        Setting(PreferenceKey("name", default: ""), in: store, rules: [.notBlank]),
      ])
  }

  @Test func `item 84: a list is drawn without the types`() throws {
    let lines = try group().settings.map { "\($0.title)|\($0.name)|\(try $0.formattedValue)|\($0.control)" }
    #expect(
      lines == [
        "Cats|cats|12|stepper(min: \"0\", max: \"13\", step: \"1\")",
        "Muted|muted|false|toggle",
        "|theme|automatic|\(SettingControl.choice(Theme.allCases.map { .init(text: $0.rawValue, title: $0.rawValue) }))",
        "|name|Tom|text",
      ])
  }

  @Test func `every setting of a list is changed through text`() throws {
    for (setting, text) in zip(try group().settings, ["3", "true", "dark", "Jerry"]) {
      #expect(setting.problems(in: text) == [])
      try setting.set(text: text)
      #expect(try setting.text == text)
    }
    #expect(try store.dictionary() == ["cats": 3, "muted": true, "theme": "dark", "name": "Jerry"])
  }

  @Test func `text that does not fit is refused, and says why`() async throws {
    let expected: [(String, String, String, PreferencesError.Code)] = [
      ("cats", "many", "is not a whole number", .typeMismatch),
      ("cats", "14", "must be between 0 and 13", .outOfRange),
      ("muted", "perhaps", "is not yes or no", .typeMismatch),
      ("theme", "pink", "is not a possible value", .outOfRange),
      ("name", " ", "must not be blank", .outOfRange),
    ]
    for (name, text, problem, code) in expected {
      let setting = try #require(try group()[name])
      let before = try store.dictionary()
      #expect(setting.problems(in: text) == [problem])
      #expect(preferencesError { try setting.set(text: text) }?.code == code)
      #expect(await preferencesError { try await setting.set(text: text) }?.code == code)
      #expect(try store.dictionary() == before)
    }
  }

  @Test func `a list steps and resets what it does not know`() async throws {
    let setting = try #require(try group()["cats"])
    _ = try { try setting.increase() }()
    #expect(try setting.isAtMax)
    try await setting.decrease()
    #expect(try setting.formattedValue == "12")
    try await setting.reset()
    #expect(try setting.formattedValue == "1")
    #expect(store["cats"] == nil)
  }

  @Test func `a group finds a setting by its name`() throws {
    #expect(try group()["muted"]?.title == "Muted")
    #expect(try group()["dogs"] == nil)
  }

  @Test func `neither a setting nor a group shows a value when it is printed`() throws {
    try store.set(hiddenText, forKey: "name")
    let group = try group()
    #expect("\(group)" == "settings \"House\": cats, muted, theme, name")
    #expect("\(group.settings[0])" == "setting \"cats\" in dictionary")
    #expect(traces(of: hiddenText, in: group) == [])
    for setting in group.settings { #expect(traces(of: hiddenText, in: setting) == []) }
  }
}
