import FoundationEssentials
import Preferences
import PreferencesOperators
import Synchronization
import Testing

final class Player: Sendable {
  private let state = Mutex((name: "Ann", score: 0))

  var name: String { state.withLock(\.name) }
  var score: Int {
    get { state.withLock(\.score) }
    set { state.withLock { $0.score = newValue } }
  }
}

struct Appearance {
  var color = "red"
  var age: Int
  let enabled = true
}

/// One row of a table in memory.
final class Row: Sendable {
  private let values: Mutex<[String: PreferenceValue]>

  init(name: String) { values = Mutex(["name": .string(name)]) }

  var columns: [String] { values.withLock { Array($0.keys) } }
  subscript(column: String) -> PreferenceValue? {
    get { values.withLock { $0[column] } }
    set { values.withLock { $0[column] = newValue } }
  }
}

struct ClockPreferences: PreferencesReader {
  let name = "clock"

  func value(for query: PreferenceQuery) -> PreferenceValue? {
    query.name.text == "now" ? .date(Date()) : nil
  }

  func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(["now"]) }
}

enum App: PreferenceNamespace {
  enum Server: PreferenceNamespace {
    typealias Parent = App
    static let port = key("port", default: 8080)
  }
}

// ComingFromPrephirencesAndDefaults.md: Prephirences, from objects on.
extension GuideTests {
  @Test func `Prephirences: the properties of an object are preferences`() throws {
    let player = Player()

    let properties = KeyPathPreferences(
      player, ["name": .readOnly(\.name), "score": .writable(\.score)])
    try properties.set(7, forKey: "score")

    #expect(player.score == 7 && properties["name"] == "Ann")
  }

  @Test func `Prephirences: the properties of a struct are read`() throws {
    let appearance = ReflectingPreferences(Appearance(age: 33))
    let color = try appearance.string(forKey: "color")

    #expect(color == "red" && appearance["age"] == 33 && appearance["enabled"] == true)
  }

  @Test func `Prephirences: a record is kept by closures`() throws {
    let row = Row(name: "Ann")

    let record = RecordPreferences(
      keys: { row.columns }, get: { row[$0] }, set: { row[$1] = $0 })
    try record.set("Bob", forKey: "name")

    #expect(row["name"] == "Bob")
  }

  @Test func `Prephirences: a property list is a store`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/prefs.plist"

      let plist = try PropertyListPreferences(at: path, options: [.creating, .savingExplicitly])
      try plist.set(8080, forKey: "port")
      try plist.save()
      try plist.reload()
      try settings += plist

      #expect(settings["port"] == 8080)
      try settings.write(to: path, format: PropertyListFormat())
      #expect(try DictionaryPreferences(contentsOf: path, format: PropertyListFormat())["port"] == 8080)
    }
  }

  @Test func `Prephirences: a reader is made of two functions`() throws {
    #expect(try ClockPreferences().contains("now"))
    #expect(try ClockPreferences().dictionary().keys.sorted() == ["now"])
  }

  @Test func `Prephirences: a reader is made of keys, or of a collection`() throws {
    let rows = [(id: "a", count: 1), (id: "b", count: 2)]

    let squares = KeysPreferences(keys: { ["2", "3"] }, value: { Int($0).map { PreferenceValue($0 * $0) } })
    let counts = CollectionPreferences(rows, key: { $0.id }, value: { PreferenceValue($0.count) })

    #expect(try squares.dictionary() == ["2": 4, "3": 9])
    #expect(try counts.dictionary() == ["a": 1, "b": 2])
  }

  @Test func `Prephirences: keys have a prefix`() throws {
    settings["myAppKey.myKey"] = 1

    let mine = settings.below("myAppKey.")
    let isSame = settings["myAppKey.myKey"] == mine["myKey"]
    let view = settings.below("myAppKey.").readOnly

    #expect(isSame && view["myKey"] == 1)
    try mine.removeAll()
    #expect(settings.keys().isEmpty)
  }

  @Test func `Prephirences: names are made of nested types`() throws {
    try settings.set(443, for: App.Server.port)
    #expect(settings["app.server.port"] == 443)
    #expect(settings.below(App.Server.self)["port"] == 443)
  }

  @Test func `Prephirences: stores are layers of one another`() throws {
    let fixed = DictionaryPreferences(["a": 1]).readOnly
    let file = DictionaryPreferences(["b": 2], name: "file")
    let cloud = DictionaryPreferences([:], name: "cloud")

    let preferences = CompositePreferences([fixed, file, cloud])
    let same: CompositePreferences = [fixed, file, cloud]
    let everywhere = CompositePreferences([fixed, file, cloud], writeMode: .allStores)

    try same.set(3, forKey: "b")
    #expect(file["b"] == 3 && cloud["b"] == nil)
    try everywhere.set(4, forKey: "b")
    #expect(cloud["b"] == 4 && preferences["b"] == 4)
    #expect(try preferences.set(5, forKey: "a") == .shadowed(by: "dictionary"))
  }

  @Test func `Prephirences: stores are registered`() throws {
    try PreferencesRegistry.with(PreferencesRegistry()) {
      PreferencesRegistry.current.share(settings)
      PreferencesRegistry.current.register(settings, for: "myKey")
      PreferencesRegistry.current["myKey"] = settings
      PreferencesRegistry.current[ObjectIdentifier(Player.self)] = settings
      let found = PreferencesRegistry.current["myKey"]
      if let found { try (found <| "visits") += 1 }
      let made = PreferencesRegistry.current.store(for: "other", orRegister: DictionaryPreferences())

      #expect(settings["visits"] == 1)
      #expect(found?.identity == settings.identity && made.identity != settings.identity)
      #expect(SharedPreferences().identity == settings.identity)
      #expect(PreferencesRegistry.current[ObjectIdentifier(Player.self)] != nil)
    }
  }

  @Test func `iCloud: two stores are kept the same`() async throws {
    let remote = DictionaryPreferences([:], name: "remote")

    let sync = PreferenceSync(settings, with: remote)
    try await sync.add(.serverPort, .scheme)
    try await settings.set(9090, for: .serverPort)
    try await sync.waitForCompletion()
    sync.remove(.scheme)

    #expect(remote[.serverPort] == 9090 && sync.keys == ["server.port"])
    sync.removeAll()
    #expect(sync.keys.isEmpty)
  }
}
