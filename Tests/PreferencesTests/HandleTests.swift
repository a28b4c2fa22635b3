import PreferencesOperators
import Preferences
import Testing

private enum Constants {
  static let port = StoredPreference(PreferenceKey("server.port", default: 8080))
}

struct HandleTests {
  private let store = DictionaryPreferences(["a": 1, "text": "x"])

  @Test func `item 64: a value of another type is there, cannot be read, and is no nil`() throws {
    let text: Preference<Int> = store <| "text"
    #expect(try text.hasValue)
    #expect(preferencesError { _ = try text.get() }?.code == .typeMismatch)
  }

  @Test func `item 64: a handle of an optional key has the type without the optional`() throws {
    let host: Preference<String> = store.preference(for: PreferenceKey<String?>("host"))
    try host.set("a")
    #expect(try store.string(forKey: "host") == "a")
  }

  @Test func `item 64: a constant handle of a key with a default has a value that is never nil`() throws {
    PreferencesRegistry.with(PreferencesRegistry()) {
      #expect(Constants.port.value == 8080)
      Constants.port.value += 1
      let port: Int = Constants.port.value
      #expect(port == 8081)
      #expect(SharedPreferences()["server.port"] == 8081)
    }
    let bound = StoredPreference(PreferenceKey("server.port", default: 8080), in: store)
    bound.value = 1
    #expect(try store.integer(forKey: "server.port") == 1)
    try bound.update { $0 += 1 }
    #expect(try bound.get() == 2)
    try bound.reset()
    #expect(bound.value == 8080)
  }

  @Test func `an update changes what the key reads as, and may be cancelled`() throws {
    let port = PreferenceKey("port", default: 8080)
    #expect(try store.update(port) { $0 += 1 } == .visible)
    #expect(store["port"] == 8081)
    #expect(throws: CancellationError.self) {
      try store.update(port) {
        $0 = 1
        throw CancellationError()
      }
    }
    #expect(store["port"] == 8081)
  }

  @Test func `an update of NaN ends`() throws {
    store["x"] = .double(.nan)
    try store.update(PreferenceKey("x", default: 0.0)) { $0 = 1 }
    #expect(store["x"] == 1.0)
  }

  @Test func `an observer may update the store that notifies it`() throws {
    let store = store
    let token = store.observe(PreferenceKey("a", default: 0)) { change in
      guard change.newValue == 2 else { return }
      do { try store.update(PreferenceKey("b", default: 0)) { $0 += 1 } } catch { Issue.record(error) }
    }
    try store.update(PreferenceKey("a", default: 0)) { $0 = 2 }
    #expect(store["b"] == 1)
    token.invalidate()
  }

  @Test func `neither description nor dump shows a value`() {
    store["token"] = .string(sentinel)
    let token: Preference<String> = store <| "token"
    let standIn = token.whenNil(use: sentinel)
    #expect("\(token)" == "preference \"token\" in dictionary")
    for text in ["\(token)", dumped(token), "\(standIn)", dumped(standIn)] { #expect(!text.contains(sentinel)) }
  }
}
