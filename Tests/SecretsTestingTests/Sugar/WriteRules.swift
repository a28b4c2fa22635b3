import Preferences
import PreferencesOperators
@testable import SecretsTesting
import Testing

extension ConformanceRule {
  /// The contract's rules of writes, for the ways to write that the package adds.
  static let writes: [ConformanceRule] =
    removals(by: waysToRemove) + [
      removalOfNothing("removing what is absent in the package's own ways changes nothing", by: waysToRemove)
    ] + changes(by: waysToChange) + secretWrites(by: waysToWrite) + [
      secretsRefused("a store that is not sealed takes no secret key through an operator or a sync") { store in
        let sealed = FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
        return [
          { try add(sealed, to: store) },
          { try PreferenceSync(sealed, with: store).add(.secret("password") as PreferenceKey<String?>) },
          { try PreferenceSync(sealed, with: store).add(.key("password") as PreferenceKey<String?>) },
        ]
      }
    ]

  private static let waysToRemove: [WayToRemove] = [
    WayToRemove("removeValue of an enum's case") { try $0.removeValue(forKey: EnumName.text) },
    WayToRemove("a subscript of an enum's case with nil") { $0[EnumName.text] = nil },
    // Members cannot reach sealed values.
    WayToRemove("a member with nil", requires: [.holds(.plain)], writing: { setMember($0, "word") }) {
      setMember($0, nil)
    },
    WayToRemove("a handle") { try $0.preference(for: .key("text") as PreferenceKey<String?>).clear() },
    WayToRemove("a wrapper set to nil") { store in
      @StoredPreference(.key("text"), in: store) var text: String?
      text = nil
    },
    WayToRemove("-=") { try subtract("text", from: $0) },
  ]

  private static let waysToChange: [WayToChange] = [
    WayToChange("+=", "new") { try $0 += [("text", "new")] },
    WayToChange("a buffer's commit", "new") { composite in
      let buffer = BufferedPreferences(composite)
      try buffer.set("new", forKey: "text")
      try buffer.commit()
    },
  ]

  private static let waysToWrite: [WayToWriteSecret] = [
    WayToWriteSecret("+= of a dictionary") { try $0 += ["password": "SENTINEL-5f3a"] },
    WayToWriteSecret("+= of pairs") { try $0 += [("password", "SENTINEL-5f3a")] },
    WayToWriteSecret("+= of a sealed store") {
      try $0 += FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
    },
    WayToWriteSecret("+= of a buffer") { composite in
      let source: CompositePreferences = [sealedLayer(claiming: "password")]
      let buffer = BufferedPreferences(source)
      try buffer.set("SENTINEL-5f3a", forKey: "password")
      try composite += buffer
    },
    WayToWriteSecret("?= of values") { try $0 ?= ["password": "SENTINEL-5f3a"] },
    WayToWriteSecret("?= of closures") { try $0 ?= ["password": { "SENTINEL-5f3a" }] },
    WayToWriteSecret("a member") { $0.members.password = "SENTINEL-5f3a" },
    WayToWriteSecret("a handle") { try $0.preference(for: .secret("password")).set("SENTINEL-5f3a") },
    WayToWriteSecret("a handle by name") { try ($0 <| "password") ?= "SENTINEL-5f3a" },
    WayToWriteSecret("a wrapper") { composite in
      @StoredPreference(.secret("password"), in: composite) var password: String?
      password = "SENTINEL-5f3a"
    },
    WayToWriteSecret("a buffer's commit") { composite in
      let buffer = BufferedPreferences(composite)
      try buffer.set("SENTINEL-5f3a", for: .secret("password"))
      try buffer.commit()
    },
    WayToWriteSecret("a buffer's commit by name") { composite in
      let buffer = BufferedPreferences(composite)
      try buffer.set(["password": "SENTINEL-5f3a"])
      try buffer.commit()
    },
    WayToWriteSecret("a sync") { composite in
      let other = FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
      try PreferenceSync(composite, with: other).add(.secret("password") as PreferenceKey<String?>)
    },
    WayToWriteSecret("a sync of a key that any layer may hold") { composite in
      let other = FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
      try PreferenceSync(composite, with: other).add(.key("password") as PreferenceKey<String?>)
    },
  ]
}

private func setMember(_ store: some PreferencesStore, _ value: PreferenceValue?) { store.members.text = value }

private func subtract(_ key: String, from store: some PreferencesStore) throws { try store -= key }
