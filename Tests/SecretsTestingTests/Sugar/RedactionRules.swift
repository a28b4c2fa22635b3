import Preferences
import PreferencesOperators
@testable import SecretsTesting
import Testing

extension ConformanceRule {
  /// What handles, wrappers, buffers and snapshots show of sealed values.
  static let redaction = [
    unshown("neither handles nor wrappers nor buffers show a sealed value") { store, composite in
      let handle = composite.preference(for: .secret("token") as PreferenceKey<String?>)
      @StoredPreference(.secret("token"), in: store) var token: String?
      #expect(token == sentinel)
      let buffer = BufferedPreferences(store)
      try buffer.set(sentinel, for: .secret("other"))
      return [handle, $token, buffer]
    },
    ConformanceRule(
      34, "a snapshot leaves sealed values out, unless they are requested", requires: [.takes(.secret), .leavesNames]
    ) { fixture in
      let store = try fixture.makeStore()
      try store.set(sentinel, for: .secret("token"))
      let composite: CompositePreferences = [["port": 80] as DictionaryPreferences, claiming("token", in: store)]
      #expect(try DictionaryPreferences(copying: composite).keys() == ["port"])
      let revealed = try DictionaryPreferences(copying: composite, includingSealed: true)
      #expect(try revealed.value(forKey: "token") == .string(sentinel))
      #expect(throws: PreferencesError.self) { try add(composite, to: DictionaryPreferences()) }
    },
    ConformanceRule(
      34, "what a buffer holds for a name that is claimed is redacted before the commit, too",
      requires: [.takes(.secret), .leavesNames]
    ) { fixture in
      let store = try fixture.makeStore()
      let plain = DictionaryPreferences()
      let buffer = BufferedPreferences(CompositePreferences([plain, claiming("token", "merged", in: store)]))
      try buffer.set(sentinel, forKey: "token")
      try buffer.set(["merged": .string(sentinel), "port": 80])
      #expect(try buffer.dictionary() == ["token": .redacted, "merged": .redacted, "port": 80])
      #expect(try buffer.string(forKey: "token") == sentinel)
      #expect(try DictionaryPreferences(copying: buffer).keys() == ["port"])
      #expect(throws: PreferencesError.self) { try add(buffer, to: DictionaryPreferences()) }
      try buffer.commit()
      #expect(try store.value(for: .secret("token")) == sentinel)
      #expect(plain.keys() == ["port"])
    },
  ]
}
