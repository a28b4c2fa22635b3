import Foundation
import Preferences
import PreferencesSettings
import Secrets
import SecretsTesting
import Testing

/// Settings that are read off the values of a store.
struct InferredSettingsTests {
  private func settings(_ store: any PreferencesStore) throws -> [String: any AnySetting] {
    let all = try SettingGroup.groups(inferredFrom: store).flatMap(\.settings)
    return Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
  }

  @Test func `the first parts of names are groups, and titles are readable`() throws {
    let store = DictionaryPreferences([
      "server.port": 80, "server.tlsMinVersion": "1.3", "server.publicURL": "", "mail_box.max_size": 1, "debug": true,
      "SHOP_LOG_LEVEL": "info",
    ])
    let groups = try SettingGroup.groups(inferredFrom: store)
    #expect(groups.map(\.title) == ["", "Mail box", "Server"])
    #expect(
      groups.map { $0.settings.map(\.title) } == [
        ["Shop log level", "Debug"], ["Max size"], ["Port", "Public URL", "Tls min version"],
      ])
  }

  @Test func `what the package keeps for itself is no setting`() throws {
    let store = DictionaryPreferences(["volume": 1, "volume@written": 5, "preferences@version": 2, "me@home": "a"])
    #expect(try settings(store).keys.sorted() == ["me@home", "volume"])
  }

  @Test func `each kind has its control, and is changed within the kind`() throws {
    let (date, url) = (Date(timeIntervalSinceReferenceDate: 0), URL(string: "https://example.com")!)
    let store = DictionaryPreferences([
      "flag": true, "whole": 1, "unsigned": .unsignedInteger(.max), "double": 1.5, "string": "a", "date": .date(date),
      "url": .url(url), "list": ["a", 1], "members": ["a": ["b": true], "password": .string(hiddenText)],
    ])
    let settings = try settings(store)
    #expect(settings["flag"]?.control == .toggle)
    #expect(settings["whole"]?.control == .stepper(min: "\(Int64.min)", max: "\(Int64.max)", step: "1"))
    #expect(settings["unsigned"]?.control == .stepper(min: "0", max: "\(UInt64.max)", step: "1"))
    for name in ["double", "string", "date", "url"] { #expect(settings[name]?.control == .text) }
    for name in ["list", "members"] {
      #expect(settings[name]?.control == .readOnly)
      #expect(preferencesError { try settings[name]?.set(text: "[]") }?.code == .typeMismatch)
    }
    #expect(try settings["list"]?.formattedValue == #"["a", 1]"#)
    #expect(try settings["members"]?.formattedValue == #"{"a": {"b": true}, "password": <redacted>}"#)
    try settings["unsigned"]?.increase()
    try settings["double"]?.set(text: "2")
    #expect(store["double"] == 2.0)
    #expect(try settings["date"]?.text == "2001-01-01T00:00:00Z")
    #expect(preferencesError { try settings["url"]?.set(text: "a b") }?.code == .typeMismatch)
  }

  @Test(arguments: [
    "password", "smtp.password", "PASSPHRASE", "client_secret", "githubToken", "apiKey", "api_key", "API_KEY",
    "privateKey", "credentials", "aws.secretAccessKey", "secrets.github", "dbPasswd",
  ])
  func `a name says that its value is a secret`(_ name: String) throws {
    let store = DictionaryPreferences([name: .string(hiddenText)])
    let setting = try #require(try settings(store)[name])
    #expect(setting.control == .secret)
    #expect(try setting.formattedValue == "<redacted>")
    #expect(try setting.text == "")
    try setting.set(text: "new")
    #expect(store[name] == "new")
  }

  @Test func `other names say nothing`() throws {
    let store = DictionaryPreferences([
      "token.lifetime": 5, "maxTokens": 4096, "showPassword": true, "passwordFile": "/etc/a", "key": "a",
      "secretary": "a",
    ])
    for (name, setting) in try settings(store) { #expect(setting.control != .secret, "\(name)") }
  }

  // Arguments are printed, so the password is put into them by the test.
  @Test(arguments: [
    "postgres://shop:PASSWORD@localhost/shop", "mongodb://shop:PASSWORD@host1:27017,host2:27017/shop",
    "postgres://shop:#PASSWORD/?@host/shop", "redis://:PASSWORD@host",
  ])
  func `an address with a password is hidden`(address: String) throws {
    let text = address.replacing("PASSWORD", with: hiddenText)
    let store = DictionaryPreferences(["database": .string(text), "replicas": [.string(text)], "site": "https://a.b"])
    let settings = try settings(store)
    #expect(settings["database"]?.control == .secret)
    #expect(try settings["replicas"]?.formattedValue == "[<redacted>]")
    #expect(settings["site"]?.control == .text)
  }

  @Test func `sealed values are hidden and sealed again`() async throws {
    let vault = try ThrowawayVault()
    defer { withExtendedLifetime(vault) {} }
    let sealed = try vault.preferences()
    try await sealed.set(hiddenText, forKey: "mail.account")
    for store in [sealed, CompositePreferences([sealed.claiming(.everything), DictionaryPreferences()])]
      as [any PreferencesStore]
    {
      let setting = try #require(try settings(store)["mail.account"])
      #expect(setting.control == .secret)
      #expect(try setting.formattedValue == "<redacted>")
      try await setting.set(text: "new")
      #expect(try sealed.string(forKey: "mail.account") == "new")
    }
  }

  @Test func `a file of settings has its entries as settings`() throws {
    try withTemporaryFolder { folder in
      try Data(#"{"server": {"port": 80, "tls": {"on": false}}}"#.utf8).write(to: URL(filePath: folder + "/a.json"))
      let groups = try SettingGroup.groups(inferredFrom: try JSONPreferences(at: folder + "/a.json"))
      #expect(groups.map(\.description) == ["settings \"Server\": server.port, server.tls.on"])
      try groups[0]["server.tls.on"]?.set(text: "true")
      #expect(try JSONPreferences(at: folder + "/a.json").bool(forKey: "server.tls.on") == true)
    }
  }

  @Test(arguments: [10_000, 10_001])
  func `ten thousand settings are shown, and more are an error`(_ count: Int) throws {
    let values = Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", PreferenceValue.integer(1)) })
    let described = "[" + (0..<count).map { "{\"name\":\"k\($0)\",\"type\":\"integer\"}" }.joined(separator: ",") + "]"
    for groups in [
      { try SettingGroup.groups(inferredFrom: DictionaryPreferences(values)) },
      { try SettingGroup.groups(describedBy: Data(described.utf8), in: DictionaryPreferences([:])) },
    ] as [() throws -> [SettingGroup]] {
      do {
        #expect(try groups().map(\.settings.count) == [10_000] && count == 10_000)
      } catch let error as PreferencesError {
        #expect(error.code == .limitExceeded && count == 10_001)
      }
    }
  }
}
