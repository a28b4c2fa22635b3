import Foundation
import PreferenceAdapters
import PreferenceOperators
import PreferenceFiles
import Preferences
import PreferencesFoundation
import Testing

/// What a load brings, and what it leaves.
struct RemotePreferencesTests {
  private static let document = """
    {"port": 8080, "tls": true, "load": 1.0, "server": {"host": "a", "since": "2024-01-02T03:04:05Z"}}
    """

  private func remote(_ server: LoopbackServer, _ path: String = "/") throws -> RemoteJSONPreferences {
    try RemoteJSONPreferences(at: server.url(path))
  }

  // MARK: Values

  @Test func `item 23: JSON is loaded, and every value comes back with its type`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, [], Self.document))
    let settings = try remote(server)
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
    let server = try LoopbackServer(Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + bytes)
    let settings = try RemotePropertyListPreferences(at: server.url())
    #expect(try await settings.load() == .updated)
    #expect(try settings.dictionary() == values)
  }

  @Test func `what has not been loaded is unavailable, not absent`() throws {
    let settings = try RemoteJSONPreferences(at: URL(string: "https://example.com/shop.json")!)
    #expect(preferencesError { _ = try settings.value(forKey: "port") }?.code == .unavailable)
    #expect(preferencesError { _ = try settings.integer(forKey: "port") }?.code == .unavailable)
    #expect(preferencesError { _ = try settings.keys() }?.code == .unavailable)
    let layers = CompositePreferences([settings, DictionaryPreferences(["port": 1])])
    #expect(preferencesError { _ = try layers.value(forKey: "port") }?.code == .unavailable)
  }

  @Test func `whatever type the server says, what it sends is read`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, ["Content-Type: text/html"], Self.document))
    let settings = try remote(server)
    try await settings.load()
    #expect(settings["port"] == 8080)
  }

  @Test func `item 71: a wrapper reads what was loaded, and is notified of the next load`() async throws {
    let answers = Answers([#"{"port": 1}"#, #"{"port": 2}"#].map { LoopbackServer.response(200, [], $0) })
    let server = try answers.server()
    let settings = try remote(server)
    try await settings.load()
    let port = ReadPreference(PreferenceKey<Int?>("port"), in: settings)
    #expect(port.wrappedValue == 1)
    var updates = port.updates.makeAsyncIterator()
    #expect(await updates.next() == 1)
    try await settings.load()
    #expect(await updates.next() == 2)
  }

  // MARK: Versions

  @Test func `item 23: the second load requests changes only`() async throws {
    let server = try LoopbackServer { request, connection in
      let isKnown = request.headers["if-none-match"] == #""a1""#
      let fields = [#"ETag: "a1""#, "Last-Modified: Tue, 02 Jan 2024 03:04:05 GMT"]
      connection.send(LoopbackServer.response(isKnown ? 304 : 200, fields, isKnown ? "" : Self.document))
    }
    let settings = try remote(server)
    #expect(try await settings.load() == .updated)
    #expect(try await settings.load() == .notModified)
    #expect(settings["port"] == 8080)
    #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, #""a1""#])
    #expect(server.requests[1].headers["if-modified-since"] == "Tue, 02 Jan 2024 03:04:05 GMT")
  }

  @Test func `a date alone is a version, too`() async throws {
    let server = try LoopbackServer { request, connection in
      let isKnown = request.headers["if-modified-since"] != nil
      connection.send(LoopbackServer.response(isKnown ? 304 : 200, ["last-modified: x"], isKnown ? "" : Self.document))
    }
    let settings = try remote(server)
    #expect(try await settings.load() == .updated)
    #expect(try await settings.load() == .notModified)
  }

  @Test(arguments: ["ETag: \u{1}", "ETag: é", "ETag:", "ETag: \(String(repeating: "x", count: 2_000))"])
  func `a version that cannot be sent back is none`(field: String) async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, [field], Self.document))
    let settings = try remote(server)
    try await settings.load()
    #expect(try await settings.load() == .updated)
    #expect(server.requests.allSatisfy { $0.headers["if-none-match"] == nil })
  }

  @Test func `a version belongs to the place that the values came from`() async throws {
    let server = try LoopbackServer { [places = Answers(["/a", "/a", "/b"])] request, connection in
      guard request.path == "/" else {
        let isKnown = request.headers["if-none-match"] != nil
        return _ = connection.send(LoopbackServer.response(isKnown ? 304 : 200, ["ETag: 1"], isKnown ? "" : "{}"))
      }
      connection.send(LoopbackServer.response(302, ["Location: \(places.next())"]))
    }
    let settings = try remote(server)
    #expect(try await settings.load() == .updated)
    #expect(try await settings.load() == .notModified)
    #expect(try await settings.load() == .updated)
    #expect(server.requests.filter { $0.path == "/b" }.allSatisfy { $0.headers["if-none-match"] == nil })
  }

  // MARK: Observers

  @Test func `observers are notified of the keys that have changed, and of no load that failed`() async throws {
    let answers = Answers([
      LoopbackServer.response(200, [], #"{"a": 1, "b": 1, "c": {"d": 1}}"#), LoopbackServer.response(500),
      LoopbackServer.response(200, [], "broken"), LoopbackServer.response(200, [], #"{"a": 1, "b": 2, "c": {"d": 2}}"#),
      LoopbackServer.response(200, [], #"{"a": 1, "b": 2, "c": {"d": 2}}"#),
    ])
    let server = try answers.server()
    let settings = try remote(server)
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
    let server = try LoopbackServer(LoopbackServer.response(200, [], Self.document))
    let store = DictionaryPreferences(["port": 1, "own": "kept"])
    let received = Received<Set<String>?>()
    let observation = store.observe { received.add($0.keys) }
    let settings = try remote(server)
    #expect(try await settings.load(into: store) == .updated)
    #expect(store["port"] == 8080)
    #expect(store["own"] == "kept")
    #expect(store["server.host"] == "a")
    #expect(received.all == [["load", "port", "server.host", "server.since", "tls"]])
    for key in try settings.keys() { #expect(try settings.value(forKey: key) == store.value(forKey: key)) }
    withExtendedLifetime(observation) {}
  }

  @Test func `what has not been modified is merged into a store all the same`() async throws {
    let server = try LoopbackServer { request, connection in
      let isKnown = request.headers["if-none-match"] != nil
      connection.send(LoopbackServer.response(isKnown ? 304 : 200, ["ETag: 1"], isKnown ? "" : Self.document))
    }
    let settings = try remote(server)
    try await settings.load()
    let store = DictionaryPreferences()
    #expect(try await settings.load(into: store) == .notModified)
    #expect(store["port"] == 8080)
  }

  @Test func `a store that cannot write leaves everything as it was`() async throws {
    struct Full: Error {}
    let server = try LoopbackServer(LoopbackServer.response(200, ["ETag: 1"], Self.document))
    let settings = try remote(server)
    let full = RecordPreferences(keys: { [] }, get: { _ in nil }, set: { _, _ in throw Full() })
    await #expect(throws: Full.self) { try await settings.load(into: full) }
    #expect(preferencesError { _ = try settings.keys() }?.code == .unavailable)
    #expect(try await settings.load() == .updated)
    #expect(server.requests.last?.headers["if-none-match"] == nil)
  }

  @Test func `a load that fails writes nothing into a store`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, [], #"{"port": 1, "port": 2}"#))
    let store = DictionaryPreferences(["port": 5])
    #expect(await preferencesError { try await remote(server).load(into: store) }?.code == .malformed)
    #expect(try store.dictionary() == ["port": 5])
  }

  // MARK: Several loads

  @Test func `ten loads at once all succeed`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, [], Self.document))
    let settings = try remote(server)
    try await withThrowingTaskGroup { group in
      for _ in 0..<10 { group.addTask { try await settings.load() } }
      try await group.waitForAll()
    }
    #expect(settings["port"] == 8080)
    #expect(server.requests.count == 10)
  }

  @Test func `a load that another has overtaken does not bring back old values`() async throws {
    let (arrived, overtaken) = (Signal(), Signal())
    let answers = Answers([#"{"port": 1}"#, #"{"port": 2}"#])
    let server = try LoopbackServer { _, connection in
      let body = answers.next()
      if body.contains("1") {
        arrived.send()
        overtaken.block()
      }
      connection.send(LoopbackServer.response(200, [], body))
    }
    let settings = try remote(server)
    let store = DictionaryPreferences()
    let slow = Task { try await settings.load(into: store) }
    await arrived.wait()
    #expect(try await settings.load() == .updated)
    overtaken.send()
    #expect(try await slow.value == .notModified)
    #expect(settings["port"] == 2)
    #expect(store["port"] == 2)
  }

  @Test func `it is freed with its last reference`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, [], Self.document))
    weak var held: RemoteJSONPreferences?
    do {
      let settings = try remote(server)
      try await settings.load()
      held = settings
      #expect(held != nil)
    }
    #expect(held == nil)
  }
}
