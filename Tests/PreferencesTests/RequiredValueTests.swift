import Preferences
import Testing

extension PreferenceKey<String?> {
  fileprivate static var token: Self { .init("github.token") }
}

extension PreferenceKey<String?> {
  fileprivate static var secret: Self {
    Self(
      "github.token", kind: .string, secrecy: .secret, makeDefault: { nil },
      decode: { value throws(PreferencesError) in try String(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value.map(PreferenceValue.string) })
  }
}

struct RequiredValueTests {
  @Test func `a required value that is set is returned`() throws {
    let store = DictionaryPreferences(["github.token": "t", "hosts": ["a"]])
    #expect(try store.required(.token) == "t")
    #expect(try store.required(forKey: "hosts", as: [String].self) == ["a"])
  }

  @Test func `a required value that is absent names the key and the reader`() {
    let error = preferencesError { _ = try DictionaryPreferences(["x": "other"]).required(.token) }
    #expect(error?.description == "absent: key \"github.token\" has no value in: dictionary")
  }

  @Test func `a composite names the layers in which the key is looked up, those of nested composites included`() {
    let file = FixedPreferences(name: "property list shop.plist", content: ["x": 1])
    let inner = CompositePreferences([file, DictionaryPreferences()], name: "inner")
    let preferences = CompositePreferences([
      SealedPreferences().claiming(.names([])), EnvironmentPreferences(prefix: "SHOP", environment: [:]), inner,
    ])

    let plain = preferencesError { _ = try preferences.required(.token) }
    #expect(
      plain?.message
        == "key \"github.token\" has no value in: environment SHOP_*, property list shop.plist, dictionary")
    let secret = preferencesError { _ = try preferences.required(.secret) }
    #expect(secret?.message == "key \"github.token\" has no value in: sealed")
    let none = preferencesError { _ = try inner.required(.secret) }
    #expect(none?.message == "key \"github.token\" has no value in: no layer")
  }

  @Test func `a claimed name was looked up in the layer that claims it`() {
    let preferences = CompositePreferences([
      SealedPreferences().claiming(.names(["github.token"])), DictionaryPreferences(["github.token": "plain"]),
    ])
    let error = preferencesError { _ = try preferences.required(.token) }
    #expect(error?.code == .absent)
    #expect(error?.message == "key \"github.token\" has no value in: sealed")
  }

  @Test func `a failure and a value of a different type stay what they are`() {
    let failing = CompositePreferences([FailingPreferences(custody: .plain), DictionaryPreferences()])
    #expect(preferencesError { _ = try failing.required(.token) }?.code == .unavailable)
    let wrong = DictionaryPreferences(["github.token": 1])
    #expect(preferencesError { _ = try wrong.required(.token) }?.code == .typeMismatch)
  }
}
