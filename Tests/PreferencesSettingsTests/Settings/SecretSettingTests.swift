import PreferencesSettings
import Preferences
import Secrets
import SecretsTesting
import Testing

/// Settings of secrets: written and never shown.
struct SecretSettingTests {
  let vault: ThrowawayVault
  let sealed: SecretPreferences
  let plain = DictionaryPreferences()
  let layers: CompositePreferences

  init() throws {
    vault = try ThrowawayVault()
    sealed = try vault.preferences()
    layers = CompositePreferences([sealed.claiming(.prefix("claimed.")), plain])
  }

  private func password(in store: any PreferencesStore) -> Setting<Secret<String>?> {
    Setting(PreferenceKey("smtp.password"), in: store, title: "Password")
  }

  private func stores() -> [any PreferencesStore] { [sealed, layers] }

  @Test func `text seals a secret, which is not shown`() async throws {
    for store in stores() {
      let setting: any AnySetting = password(in: store)
      #expect(setting.control == .secret)
      #expect(try setting.formattedValue == "")
      try await setting.set(text: hiddenText)
      #expect(try setting.formattedValue == "<redacted>")
      #expect(try setting.text == "")
      #expect(try layers.secret(String.self, forKey: "smtp.password")?.withValue { $0 } == hiddenText)
      #expect(plain.keys() == [])
      try await setting.reset()
      #expect(try setting.formattedValue == "")
    }
    #expect(try traces(of: hiddenText, inFilesAt: vault.path) == [])
  }

  @Test func `nothing that can be printed has the secret`() async throws {
    for store in stores() {
      let setting = password(in: store)
      try await setting.set(text: hiddenText)
      for printed in [setting, setting.control, SettingGroup("Mail", [setting]), setting.key, setting.store] as [Any] {
        #expect(traces(of: hiddenText, in: printed) == [])
      }
      let change = try #require(try await setting.formattedValues().collected(1).first)
      #expect(change == "<redacted>")
    }
  }

  @Test func `no error has the secret`() throws {
    let rule = Rule<Secret<String>>("must be longer") { $0.withBytes { $0.byteCount > 100 } }
    let setting = Setting(PreferenceKey("smtp.password"), in: layers, rules: [rule])
    #expect(setting.problems(in: hiddenText) == ["must be longer"])
    var errors = [try #require(preferencesError { try setting.set(text: hiddenText) })]
    let number = Setting(PreferenceKey<Secret<Int>?>("pin"), in: layers)
    errors.append(try #require(preferencesError { try number.set(text: hiddenText) }))
    errors.append(try #require(preferencesError { try password(in: plain).set(text: hiddenText) }))
    #expect(errors.map(\.code) == [.outOfRange, .typeMismatch, .noStore])
    for error in errors { #expect(traces(of: hiddenText, in: error) == []) }
    #expect(number.problems(in: hiddenText) == ["is not a whole number"])
  }

  @Test func `empty text neither removes nor empties a secret`() async throws {
    let setting = password(in: layers)
    try await setting.set(text: hiddenText)
    #expect(!setting.problems(in: "").isEmpty)
    #expect(preferencesError { try setting.set(text: "") }?.code == .outOfRange)
    #expect(try setting.formattedValue == "<redacted>")
  }

  @Test func `a plain key of a sealed name, or in a sealed store, is hidden`() async throws {
    for (name, store) in [("claimed.name", layers), ("name", sealed)] as [(String, any PreferencesStore)] {
      let setting = Setting(PreferenceKey(name, default: ""), in: store) { "named \($0)" }
      try await setting.set(hiddenText)
      #expect(setting.control == .secret)
      #expect(try setting.formattedValue == "<redacted>")
      #expect(try setting.text == "")
      #expect(try setting.get() == hiddenText)
      #expect(try await setting.formattedValues().collected(1) == ["<redacted>"])
    }
    #expect(Setting(PreferenceKey("name", default: ""), in: layers).control == .text)
  }

  @Test func `a list of a sealed name, or in a sealed store, is hidden`() async throws {
    for (name, store) in [("claimed.hosts", layers), ("hosts", sealed)] as [(String, any PreferencesStore)] {
      let list = Setting(PreferenceKey(name, default: [String]()), in: store)
      try await list.set([hiddenText])
      let setting: any AnySetting = list
      #expect(setting.isHidden)
      #expect(setting.control == .readOnly)
      #expect(try setting.formattedValue == "<redacted>")
      #expect(try setting.text == "")
    }
    let shown: any AnySetting = Setting(PreferenceKey("hosts", default: [String]()), in: layers)
    #expect(!shown.isHidden)
  }

  @Test func `a plain value is hidden on request`() async throws {
    var setting = Setting(PreferenceKey("name", default: ""), in: plain)
    setting.isHidden = true
    try await setting.set(text: hiddenText)
    #expect(setting.control == .secret)
    #expect(try setting.formattedValue == "<redacted>")
    #expect(plain["name"] == .string(hiddenText))
  }

  @Test func `item 92: each new secret is a change that does not show it`() async throws {
    let values = try await password(in: layers).formattedValues().collected(4) { number in
      switch number {
      case 1, 2: try await layers.set(Secret("\(hiddenText)-\(number)"), forKey: "smtp.password")
      default: try await password(in: layers).reset()
      }
    }
    #expect(values == ["", "<redacted>", "<redacted>", ""])
  }

  @Test func `a locked vault is an error and no missing secret`() throws {
    let setting = password(in: layers)
    vault.lock()
    #expect(throws: (any Error).self) { try setting.formattedValue }
    #expect(throws: (any Error).self) { try setting.set(text: hiddenText) }
  }

  @Test func `numbers and flags of a sealed store are stepped and toggled`() async throws {
    let setting = try cats(in: sealed)
    try await setting.increase()
    #expect(try setting.get() == 2)
    #expect(setting.control == .secret)
    try await Setting(.isMuted, in: sealed).toggle()
    #expect(Setting(.isMuted, in: sealed).isSet)
  }
}
