import Foundation
import PreferencesSettings
import Preferences
import Secrets
import SecretsTesting
import Testing

/// Settings that JSON describes.
struct DescribedSettingsTests {
  let store = DictionaryPreferences(["unknown": 1])

  private func groups(_ json: String, in store: (any PreferencesStore)? = nil) throws -> [SettingGroup] {
    try SettingGroup.groups(describedBy: Data(json.utf8), in: store ?? self.store)
  }

  @Test func `a description has groups, titles, types and bounds`() throws {
    let groups = try groups(
      """
      [{"name": "server.port", "type": "integer", "min": 1, "max": 65535, "default": 8080, "info": "Of the server"},
       {"name": "volume", "group": "Sound", "title": "Loudness", "type": "double", "min": 0, "max": 1, "step": 0.1},
       {"name": "theme", "type": "string", "choices": ["light", {"value": "dark", "title": "Dark"}], "default": "dark"},
       {"name": "level", "type": "integer", "choices": [1, 2]},
       {"name": "server.host", "type": "string"},
       {"name": "server.site", "type": "url", "default": "https://example.com"},
       {"name": "server.flag", "type": "bool", "default": true},
       {"name": "server.ratio", "type": "double", "min": 0}]
      """)
    #expect(groups.map(\.title) == ["Server", "Sound", ""])
    let port = try #require(groups[0]["server.port"])
    #expect([port.title, port.info, try port.text] == ["Port", "Of the server", "8080"])
    #expect(port.control == .stepper(min: "1", max: "65535", step: "1"))
    #expect(groups[1].settings[0].title == "Loudness")
    #expect(groups[1].settings[0].control == .stepper(min: "0.0", max: "1.0", step: "0.1"))
    let theme = groups[2].settings[0]
    #expect(theme.control == .choice([.init(text: "light", title: "light"), .init(text: "dark", title: "Dark")]))
    #expect(try theme.formattedValue == "Dark")
    #expect(groups[2].settings[1].problems(in: "3") == ["must be one of the choices"])
    try groups[2].settings[1].set(text: "2")
    #expect(store["level"] == 2)
    #expect(try groups[0]["server.host"]?.text == "")
    #expect(try groups[0]["server.site"]?.text == "https://example.com")
    #expect(try groups[0]["server.flag"]?.formattedValue == "true")
    #expect(groups[0]["server.ratio"]?.problems(in: "-1") == ["must be at least 0.0"])
  }

  @Test func `one object describes one setting, and values without a description are not shown`() throws {
    let groups = try groups(#"{"name": "port", "type": "unsignedInteger"}"#)
    #expect(groups.flatMap(\.settings).map(\.name) == ["port"])
    try groups[0].settings[0].increase()
    #expect(store["port"] == .unsignedInteger(1))
  }

  @Test func `a secret is sealed, and never stored in plain`() async throws {
    let json = #"{"name": "smtp.account", "secret": true}"#
    let vault = try ThrowawayVault()
    defer { withExtendedLifetime(vault) {} }
    let layers = CompositePreferences([try vault.preferences().claiming(.names([])), store])
    let setting = try groups(json, in: layers)[0].settings[0]
    #expect(setting.control == .secret)
    try await setting.set(text: hiddenText)
    #expect(try setting.formattedValue == "<redacted>")
    #expect(try layers.secret(String.self, forKey: "smtp.account")?.withValue { $0 } == hiddenText)
    #expect(store.keys() == ["unknown"])
    let error = try #require(preferencesError { try groups(json)[0].settings[0].set(text: hiddenText) })
    #expect(error.code == .noStore)
    #expect(traces(of: hiddenText, in: error) == [])
  }

  @Test func `a name hides its value, unless it is said not to be secret`() throws {
    let hidden = try groups(#"{"name": "apiKey", "type": "string"}"#)[0].settings[0]
    #expect(hidden.control == .secret)
    let shown = try groups(#"{"name": "apiKey", "type": "string", "secret": false}"#)[0].settings[0]
    #expect(shown.control == .text)
  }

  @Test(arguments: [
    (#"{"name": "port", "type": "integer", "maximum": 3}"#, PreferencesError.Code.malformed),
    (#"{"name": "port"}"#, .malformed),
    (#"{"name": "port", "type": "number"}"#, .malformed),
    (#"{"name": "port", "type": "integer", "min": 2, "max": 1}"#, .malformed),
    (#"{"name": "port", "type": "integer", "min": "one"}"#, .typeMismatch),
    (#"{"name": "port", "type": "integer", "max": 1.5}"#, .typeMismatch),
    (#"{"name": "port", "type": "integer", "max": 1, "default": 2}"#, .outOfRange),
    (#"{"name": "port", "type": "integer", "step": 0}"#, .outOfRange),
    (#"{"name": "port", "type": "integer", "choices": [1], "max": 2}"#, .malformed),
    (#"{"name": "port", "type": "integer", "choices": [1], "default": 2}"#, .outOfRange),
    (#"{"name": "port", "type": "integer", "choices": []}"#, .malformed),
    (#"{"name": "port", "type": "integer", "choices": ["one"]}"#, .typeMismatch),
    (#"{"name": "port", "type": "integer", "choices": [{"value": 1, "name": "one"}]}"#, .malformed),
    (#"{"name": "port", "type": "double", "step": 0.1}"#, .malformed),
    (#"{"name": "port", "type": "double", "min": 1, "default": 0}"#, .outOfRange),
    (#"{"name": "port", "type": "string", "max": 8}"#, .malformed),
    (#"{"name": "port", "type": "bool", "choices": [true]}"#, .malformed),
    (#"{"name": "port", "secret": true, "default": "a"}"#, .malformed),
    (#"{"name": "port", "secret": true, "type": "integer"}"#, .malformed),
    (#"{"name": "port", "type": "string", "title": 1}"#, .typeMismatch),
    (#"[{"name": "port", "type": "bool"}, {"name": "port", "type": "bool"}]"#, .malformed),
  ])
  func `a description that contradicts itself is an error that names the setting`(
    _ json: String, _ code: PreferencesError.Code
  ) throws {
    let error = try #require(preferencesError { _ = try groups(json) })
    #expect(error.code == code)
    #expect(error.message.contains(#"setting "port""#))
  }

  @Test(arguments: [
    "", "[", "1", "[1]", "[{}]", #"{"name": 1}"#, #"{"name": "a", "type": null}"#, #"[{"name": "a"}] x"#,
  ])
  func `what is no description is malformed`(_ json: String) {
    #expect(preferencesError { _ = try groups(json) }?.code == .malformed)
  }

  @Test func `a name that no store accepts is refused`() {
    #expect(preferencesError { _ = try groups(#"{"name": "", "type": "bool"}"#) }?.code == .invalidKey)
  }
}
