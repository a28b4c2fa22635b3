import Foundation
import Preferences
import PreferencesOperators
import Synchronization
import Testing

/// What a load brings, and what it leaves.
struct RemotePreferencesTests {
  private static let document = """
    {"port": 8080, "tls": true, "load": 1.0, "server": {"host": "a", "since": "2024-01-02T03:04:05Z"}}
    """

  // MARK: Values

  @Test func `item 23: JSON is loaded, and every value comes back with its type`() async throws {
    let settings = ScriptedServer(.json(Self.document)).settings()
    #expect(try await settings.load() == .updated)
    #expect(try settings.value(forKey: "port") == 8080)
    #expect(try settings.value(forKey: "tls") == true)
    #expect(try settings.value(forKey: "load") == 1.0)
    #expect(try settings.string(forKey: "server.host") == "a")
    #expect(try settings.date(forKey: "server.since") == Date(timeIntervalSince1970: 1_704_164_645))
    #expect(try settings.value(forKey: "none") == nil)
    #expect(try settings.keys() == ["load", "port", "server.host", "server.since", "tls"])
    #expect(preferencesError { _ = try settings.url(forKey: "tls") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try settings.date(forKey: "server.host") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try settings.value(forKey: "a\n") }?.code == .invalidKey)
  }

  @Test(arguments: [PropertyListFormat.Encoding.xml, .binary])
  func `item 23: a property list is loaded`(encoding: PropertyListFormat.Encoding) async throws {
    let values: [String: PreferenceValue] = ["port": 8080, "data": .data(Data([0, 255])), "tls": true, "load": 1.0]
    let bytes = try PropertyListFormat(encoding).bytes(of: values, replacing: nil)
    let settings = RemotePropertyListPreferences(name: "a") { _ in RemoteResponse(status: 200, bytes: bytes) }
    #expect(try await settings.load() == .updated)
    #expect(try settings.dictionary() == values)
  }

  @Test func `content that a proxy has modified is accepted`() async throws {
    let settings = ScriptedServer(RemoteResponse(status: 203, bytes: #"{"port": 1}"#.utf8)).settings()
    #expect(try await settings.load() == .updated)
    #expect(settings["port"] == 1)
  }

  @Test func `what has not been loaded is unavailable, not absent`() throws {
    let server = ScriptedServer(.json(Self.document))
    let settings = server.settings()
    #expect(preferencesError { _ = try settings.value(forKey: "port") }?.code == .unavailable)
    #expect(preferencesError { _ = try settings.integer(forKey: "port") }?.code == .unavailable)
    #expect(preferencesError { _ = try settings.keys() }?.code == .unavailable)
    let layers = CompositePreferences([settings, DictionaryPreferences(["port": 1])])
    #expect(preferencesError { _ = try layers.value(forKey: "port") }?.code == .unavailable)
    #expect(server.requests.isEmpty)
  }

  @Test func `item 71: a wrapper reads what was loaded, and is notified of the next load`() async throws {
    let settings = ScriptedServer(.json(#"{"port": 1}"#), .json(#"{"port": 2}"#)).settings()
    try await settings.load()
    let port = ReadPreference(PreferenceKey<Int?>("port"), in: settings)
    #expect(port.wrappedValue == 1)
    var updates = port.updates.makeAsyncIterator()
    #expect(await updates.next() == 1)
    try await settings.load()
    #expect(await updates.next() == 2)
  }

  @Test func `its name alone is shown`() async throws {
    let settings = ScriptedServer(.json(#"{"token": "\#(sentinel)"}"#)).settings()
    try await settings.load()
    #expect(settings["token"] == .string(sentinel))
    #expect("\(settings)".contains("test server"))
    for text in ["\(settings)", dumped(settings)] { #expect(!text.contains(sentinel)) }
  }

  // MARK: Versions

  @Test func `item 23: the second load requests changes only`() async throws {
    let date = "Tue, 02 Jan 2024 03:04:05 GMT"
    let server = ScriptedServer(.json(Self.document, entityTag: #""a1""#, lastModified: date), .status(304))
    let settings = server.settings()
    #expect(try await settings.load() == .updated)
    #expect(try await settings.load() == .notModified)
    #expect(try await settings.load() == .notModified)
    #expect(settings["port"] == 8080)
    let conditions = ["If-None-Match": #""a1""#, "If-Modified-Since": date]
    #expect(server.requests.map(\.headers) == [[:], conditions, conditions])
  }

  @Test func `a date alone is a version, too`() async throws {
    let server = ScriptedServer(.json(Self.document, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"), .status(304))
    let settings = server.settings()
    #expect(try await settings.load() == .updated)
    #expect(try await settings.load() == .notModified)
    #expect(server.requests.last?.headers == ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"])
  }

  @Test func `the version is that of the last content`() async throws {
    let server = ScriptedServer(
      .json("{}", entityTag: #""1""#), .json("{}", entityTag: #""2""#), .json("{}"), .json("{}"))
    let settings = server.settings()
    for _ in 0..<4 { try await settings.load() }
    #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, #""1""#, #""2""#, nil])
  }

  @Test(arguments: ["", "\u{1}", "a\r\nX-Other: b", "é", String(repeating: "x", count: 1_025)])
  func `a version that cannot be sent back is none`(version: String) async throws {
    let server = ScriptedServer(.json("{}", entityTag: version, lastModified: version))
    let settings = server.settings()
    try await settings.load()
    #expect(try await settings.load() == .updated)
    #expect(server.requests.allSatisfy { $0.headers.isEmpty })
  }

  // MARK: Observers

  @Test func `observers are notified of the keys that have changed, and of no load that failed`() async throws {
    let settings = ScriptedServer(
      .json(#"{"a": 1, "b": 1, "c": {"d": 1}}"#), .status(500), .json("broken"),
      .json(#"{"a": 1, "b": 2, "c": {"d": 2}}"#), .json(#"{"a": 1, "b": 2, "c": {"d": 2}}"#)
    ).settings()
    let received = Received<Set<String>?>()
    let observation = settings.observe { received.add($0.keys) }
    for isFine in [true, false, false, true, true] {
      let error = await preferencesError { try await settings.load() }
      #expect((error == nil) == isFine)
    }
    #expect(received.all == [["a", "b", "c", "c.d"], ["b", "c", "c.d"]])
    withExtendedLifetime(observation) {}
  }

  // MARK: Into a store

  @Test func `item 23: loading into a store merges, in one step`() async throws {
    let store = DictionaryPreferences(["port": 1, "own": "kept"])
    let received = Received<Set<String>?>()
    let observation = store.observe { received.add($0.keys) }
    let settings = ScriptedServer(.json(Self.document)).settings()
    #expect(try await settings.load(into: store) == .updated)
    #expect(store["port"] == 8080)
    #expect(store["own"] == "kept")
    #expect(store["server"]?["host"] == "a")
    #expect(received.all == [["load", "port", "server", "tls"]])
    for key in store.keys() where key != "own" {
      #expect(try settings.value(forKey: key) == store.value(forKey: key))
    }
    withExtendedLifetime(observation) {}
  }

  @Test func `what has not been modified is merged into a store all the same`() async throws {
    let settings = ScriptedServer(.json(Self.document, entityTag: #""1""#), .status(304)).settings()
    try await settings.load()
    let store = DictionaryPreferences()
    #expect(try await settings.load(into: store) == .notModified)
    #expect(store["port"] == 8080)
  }

  @Test func `a store that cannot write leaves everything as it was`() async throws {
    struct Full: Error {}
    let server = ScriptedServer(.json(Self.document, entityTag: #""1""#))
    let settings = server.settings()
    let full = RecordPreferences(keys: { [] }, get: { _ in nil }, set: { _, _ in throw Full() })
    await #expect(throws: Full.self) { try await settings.load(into: full) }
    #expect(preferencesError { _ = try settings.keys() }?.code == .unavailable)
    #expect(settings.age == nil)
    #expect(try await settings.load() == .updated)
    #expect(server.requests.last?.headers == [:])
  }

  @Test func `a load that fails writes nothing into a store`() async throws {
    let settings = ScriptedServer(.json(#"{"port": 1, "port": 2}"#)).settings()
    let store = DictionaryPreferences(["port": 5])
    #expect(await preferencesError { try await settings.load(into: store) }?.code == .malformed)
    #expect(try store.dictionary() == ["port": 5])
  }

  // MARK: Several loads

  @Test func `ten loads at once all succeed`() async throws {
    let server = ScriptedServer(.json(Self.document))
    let settings = server.settings()
    try await withThrowingTaskGroup { group in
      for _ in 0..<10 { group.addTask { try await settings.load() } }
      try await group.waitForAll()
    }
    #expect(settings["port"] == 8080)
    #expect(server.requests.count == 10)
  }

  /// A reader whose second load waits for `overtaken`, then gets `slow`; the others get the responses of `server`.
  private func settings(
    _ server: ScriptedServer, slow: RemoteResponse, arrived: Signal, overtaken: Signal
  ) -> RemoteJSONPreferences {
    RemoteJSONPreferences(name: "test server") { request in
      let response = try server.fetch(request)
      guard server.requests.count == 2 else { return response }
      arrived.send()
      await overtaken.wait()
      return slow
    }
  }

  @Test func `a load that another has overtaken does not bring back old values`() async throws {
    let (arrived, overtaken) = (Signal(), Signal())
    let settings = settings(
      ScriptedServer(.json("{}"), .json("{}"), .json(#"{"port": 2}"#)), slow: .json(#"{"port": 1}"#), arrived: arrived,
      overtaken: overtaken)
    try await settings.load()
    let store = DictionaryPreferences()
    let slow = Task { try await settings.load(into: store) }
    await arrived.wait()
    #expect(try await settings.load() == .updated)
    overtaken.send()
    #expect(try await slow.value == .notModified)
    #expect(settings["port"] == 2)
    #expect(store["port"] == 2)
  }

  @Test func `a store that stores the values of an earlier load last gets those of the later one`() async throws {
    let store = SlowStore()
    let settings = RemoteJSONPreferences(name: "test server") {
      [
        server = ScriptedServer(
          .json(#"{"port": 1}"#), .json(#"{"port": 2}"#))
      ] in try server.fetch($0)
    }
    let early = Task { try await settings.load(into: store) }
    await store.arrived.wait()
    #expect(try await settings.load(into: store) == .updated)
    store.goesOn.send()
    #expect(try await early.value == .notModified)
    #expect(settings["port"] == 2)
    #expect(try store.integer(forKey: "port") == 2)
  }

  @Test func `values that a later load has confirmed are not replaced by an earlier one`() async throws {
    let (arrived, overtaken) = (Signal(), Signal())
    let settings = settings(
      ScriptedServer(.json(#"{"port": 2}"#, entityTag: #""2""#), .json("{}"), .status(304)),
      slow: .json(#"{"port": 1}"#),
      arrived: arrived, overtaken: overtaken)
    try await settings.load()
    let slow = Task { try await settings.load() }
    await arrived.wait()
    #expect(try await settings.load() == .notModified)
    overtaken.send()
    #expect(try await slow.value == .notModified)
    #expect(settings["port"] == 2)
  }

  @Test func `values that a later load has confirmed replace those of an earlier one`() async throws {
    let (confirming, fetched) = (Signal(), Signal())
    let server = ScriptedServer(.json(#"{"port": 2}"#, entityTag: #""2""#))
    let (early, late) = (Signal(), Signal())
    let settings = RemoteJSONPreferences(name: "test server") { request in
      switch server.requests.count {
      case 0: return try server.fetch(request)
      case 1:
        // Started first. Its response comes second.
        _ = try server.fetch(request)
        early.send()
        await confirming.wait()
        return .json(#"{"port": 1}"#)
      default:
        _ = try server.fetch(request)
        late.send()
        await fetched.wait()
        return .status(304)
      }
    }
    try await settings.load()
    let earlier = Task { try await settings.load() }
    await early.wait()
    let later = Task { try await settings.load() }
    await late.wait()
    confirming.send()
    #expect(try await earlier.value == .updated)
    #expect(settings["port"] == 1)
    fetched.send()
    #expect(try await later.value == .updated)
    #expect(settings["port"] == 2)
  }

  @Test func `it is freed with its last reference`() async throws {
    weak var held: RemoteJSONPreferences?
    do {
      let settings = ScriptedServer(.json(Self.document)).settings()
      try await settings.load()
      held = settings
      #expect(held != nil)
    }
    #expect(held == nil)
  }

  // MARK: Cancellation

  @Test func `a cancelled load throws and changes nothing, whatever was fetched`() async throws {
    let (arrived, isCancelled) = (Signal(), Signal())
    let settings = RemoteJSONPreferences(name: "test server") { _ in
      arrived.send()
      await isCancelled.wait()
      return .json(#"{"port": 1}"#)
    }
    let store = DictionaryPreferences()
    let load = Task { try await settings.load(into: store) }
    await arrived.wait()
    load.cancel()
    isCancelled.send()
    await #expect(throws: CancellationError.self) { try await load.value }
    #expect(preferencesError { _ = try settings.keys() }?.code == .unavailable)
    #expect(store.keys() == [])
  }

  @Test func `a format of text parses its strings as the kind that is looked up`() async throws {
    let settings = RemotePreferences<DotenvFormat>(name: "test server") { _ in
      RemoteResponse(status: 200, bytes: "PORT=81".utf8)
    }
    try await settings.load()
    #expect(try settings.value(for: PreferenceKey("PORT", default: 0)) == 81)
  }

  // MARK: Versions

  @Test(arguments: [
    ("\"a\"", true), ("W/\"a b\"", false), ("W/\"a-1\"", true), ("\"\"", true), ("*", false), ("a", false),
    ("\"a", false),
    ("\"a\"b\"", false), ("w/\"a\"", false), ("\"a\", \"b\"", false), ("", false), ("\"", false),
  ])
  func `only an entity tag that HTTP allows is sent back`(tag: String, isSent: Bool) async throws {
    let server = ScriptedServer(.json("{}", entityTag: tag), .status(304))
    let settings = server.settings()
    try await settings.load()
    do { try await settings.load() } catch { #expect(!isSent) }
    #expect(server.requests.last?.headers == (isSent ? ["If-None-Match": tag] : [:]))
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Fri, 31 Dec 9999 23:59:59 GMT", false),
    ("Sunday, 06-Nov-94 08:49:37 GMT", false), ("Sun, 31 Feb 1994 08:49:37 GMT", false), ("yesterday", false),
    ("Sun, 06 Nov 1994 08:49:37 +01", false), ("Sun, 06 nov 1994 08:49:37 GMT", false),
    ("Sun, 6 Nov 1994 08:49:37 GMT", false),
  ])
  func `only a date of the past is sent back`(date: String, isSent: Bool) async throws {
    let server = ScriptedServer(.json("{}", lastModified: date), .json("{}"))
    let settings = server.settings()
    try await settings.load()
    try await settings.load()
    #expect(server.requests.last?.headers == (isSent ? ["If-Modified-Since": date] : [:]))
  }

  @Test func `values that a server has confirmed for a day are fetched again`() async throws {
    let clock = TestClock()
    let server = ScriptedServer(.json("{}", entityTag: "\"a\""), .status(304), .status(304), .json("{}"))
    let settings = server.settings(clock: clock)
    try await settings.load()
    try await settings.load()
    clock.advance(by: .seconds(86_399))
    try await settings.load()
    #expect(server.requests.last?.headers.isEmpty == false)
    clock.advance(by: .seconds(1))
    try await settings.load()
    #expect(server.requests.last?.headers.isEmpty == true)
  }

  @Test func `a response prints no content`() {
    let response = RemoteResponse(status: 200, bytes: "SENTINEL".utf8, entityTag: "\"SENTINEL\"")
    var dumped = ""
    dump(response, to: &dumped)
    for text in ["\(response)", "\(String(reflecting: response))", dumped] { #expect(!text.contains("SENTINEL")) }
    #expect(!dumped.contains("83"))
  }
}
