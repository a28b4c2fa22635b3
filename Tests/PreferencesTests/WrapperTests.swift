import Observation
import Preferences
import PreferencesOperators
import Synchronization
import Testing

extension PreferenceKey<Int> {
  fileprivate static var port: Self { .init("server.port", default: 8080) }
}

extension PreferenceKey<[String]> {
  /// Stored as one text, with commas.
  fileprivate static var hosts: Self {
    Self(
      "hosts", kind: .string, makeDefault: { [] },
      decode: { value throws(PreferencesError) in
        try String(preferenceValue: value).split(separator: ",").map { String($0) }
      },
      encode: { value throws(PreferencesError) in .string(value.joined(separator: ",")) })
  }
}

private struct Settings {
  @StoredPreference var port: Int
  @StoredPreference var host: String?
  @StoredPreference var retries: Int
  @StoredPreference var hosts: [String]

  init(_ store: any PreferencesStore) {
    _port = StoredPreference(.port, in: store)
    _host = StoredPreference("host", in: store)
    _retries = StoredPreference(wrappedValue: 3, "retries", in: store)
    _hosts = StoredPreference(.hosts, in: store)
  }
}

private struct SharedSettings {
  @StoredPreference("retries") var retries = 3
  @StoredPreference("host") var host: String?
  @StoredPreference(.port) var port
}

@Observable
private final class Model {
  @ObservationIgnored
  @StoredPreference var port: Int

  init(_ store: any PreferencesStore) { _port = StoredPreference(.port, in: store) }
}

struct WrapperTests {
  private let store = DictionaryPreferences()

  @Test func `item 71: a wrapped property has the type that its key converts to`() {
    let settings = Settings(store)
    settings.hosts = ["a", "b"]
    #expect(store["hosts"] == "a,b")
    #expect(settings.hosts == ["a", "b"])
  }

  @Test func `item 71: wrappers take any store, and composites with sealed layers`() throws {
    let settings = Settings(CompositePreferences([FailingPreferences().unclaimed, store]).below("app."))
    settings.port = 1
    #expect(settings.port == 1)
    #expect(store["app.server.port"] == 1)
  }

  @Test func `item 71: the projected wrapper resets, updates and throws`() throws {
    let settings = Settings(store)
    try settings.$port.set(1)
    try settings.$port.update { $0 += 1 }
    #expect(try settings.$port.get() == 2)
    try settings.$port.reset()
    #expect(settings.port == 8080)
    #expect(store.keys().isEmpty)
    let failing = Settings(FailingPreferences())
    #expect(throws: FailingPreferences.Locked.self) { try failing.$port.get() }
    #expect(throws: FailingPreferences.Locked.self) { try failing.$port.set(1) }
  }

  @Test func `item 71: what can only be read is wrapped without a setter`() throws {
    struct Wrapped {
      @ReadPreference(.port, in: EnvironmentPreferences(environment: ["SERVER_PORT": "443"])) var port
      @ReadPreference("host", in: EnvironmentPreferences(environment: [:])) var host: String?
    }
    #expect(Wrapped().port == 443)
    #expect(Wrapped().host == nil)
    #expect(try Wrapped().$port.get() == 443)
  }

  @Test func `a failure in a wrapped property is reported and reads as the default`() {
    let settings = Settings(FailingPreferences())
    let reported = failures {
      #expect(settings.port == 8080)
      settings.port = 1
    }
    #expect(reported.contains { $0.key == "server.port" && $0.error is FailingPreferences.Locked })
  }

  @Test func `item 72: a property of an observable class is tracked when it is set through it`() {
    let model = Model(store)
    let changes = Recorded<Void>()
    withObservationTracking {
      _ = model.port
    } onChange: {
      changes.add(())
    }
    #expect(changes.all.isEmpty)
    model.port = 1
    #expect(changes.all.count == 1)
    model.port = 2
    #expect(changes.all.count == 1)
  }

  @Test func `without a store a wrapper means the shared one, and follows its replacement`() {
    let registry = PreferencesRegistry()
    PreferencesRegistry.with(registry) {
      let settings = SharedSettings()
      settings.retries = 5
      settings.host = "a"
      #expect(registry.shared["retries"] == 5)
      registry.share(store)
      #expect(settings.retries == 3)
      #expect(settings.host == nil)
      settings.port = 1
      #expect(store["server.port"] == 1)
    }
  }
}
