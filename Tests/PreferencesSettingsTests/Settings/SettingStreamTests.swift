import Preferences
import PreferencesSettings
import Secrets
import SecretsTesting
import Testing

/// Settings over each kind of store, and their sequences.
struct SettingStreamTests {
  private func check(_ store: any PreferencesStore, changedBy other: any PreferencesStore) async throws {
    // The setting is released before the first change.
    let (numbers, texts) = try { () throws in
      let setting = try Setting(.cats, in: store, bounds: 0...13) { "\($0) cats" }
      return (setting.values(), setting.formattedValues())
    }()
    let seen = try await numbers.collected(4) { count in
      if count < 3 { try await other.set(count * 5, for: .cats) } else { try await other.reset(.cats) }
    }
    #expect(seen == [1, 5, 10, 1])
    var last = ""
    for await text in texts {
      last = text
      if text == "1 cats" { break }
    }
    #expect(last == "1 cats")
    let setting = try cats(in: store)
    try await setting.set(12)
    try await setting.increase()
    try await setting.increase()
    #expect(try setting.get() == 13)
  }

  @Test func `item 92: a setting over a dictionary, and a sequence that outlives it`() async throws {
    let store = DictionaryPreferences()
    try await check(store, changedBy: store)
  }

  @Test func `item 92: a setting over a composite`() async throws {
    let store = DictionaryPreferences()
    try await check(CompositePreferences([store, DictionaryPreferences()]), changedBy: store)
  }

  @Test func `item 92: a setting over a file that another handle changes`() async throws {
    try await withTemporaryFolder { folder in
      let store = try JSONPreferences(at: folder + "/settings.json", options: .creating)
      try await store.set(true, forKey: "exists")
      let watch = try await store.watch()
      try await check(store, changedBy: try JSONPreferences(at: folder + "/settings.json"))
      watch.invalidate()
    }
  }

  @Test func `a value beyond the bounds is left out of the sequence and reported`() async throws {
    let store = DictionaryPreferences()
    let keys = Received<String>()
    let seen = try await PreferenceFailures.withHandler({ keys.add($0.key) }) {
      try await cats(in: store).values().collected(2) { _ in
        try await store.set(99, for: .cats)
        try await store.set(3, for: .cats)
      }
    }
    #expect(seen == [1, 3])
    #expect(keys.all == ["cats"])
  }

  @Test func `a default that breaks a rule is in the sequence`() async throws {
    let store = DictionaryPreferences(["name": "Tom"])
    let setting = Setting(PreferenceKey("name", default: ""), in: store, rules: [.notBlank])
    let seen = try await setting.values().collected(2) { _ in try await setting.reset() }
    #expect(seen == ["Tom", ""])
  }

  @Test func `each sequence has all values`() async throws {
    let store = DictionaryPreferences()
    let setting = try cats(in: store)
    let (first, second) = (setting.values(), setting.values())
    try await store.set(2, for: .cats)
    #expect(try await first.collected(2) == [1, 2])
    #expect(try await second.collected(2) == [1, 2])
  }
}
