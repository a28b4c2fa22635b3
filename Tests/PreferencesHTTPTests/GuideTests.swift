#if HTTP
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOHTTP1
  import Preferences
  import PreferencesHTTP
  import Testing

  /// A line for each value: `name = text`.
  struct LineFormat: PreferenceFileFormat {
    static let name = "list of lines"

    func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
      var values: [String: PreferenceValue] = [:]
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let parts = line.components(separatedBy: " = ")
        guard parts.count == 2 else { throw PreferencesError(.malformed, "a line is no pair") }
        values[parts[0]] = .string(parts[1])
      }
      return values
    }

    func bytes(
      of values: [String: PreferenceValue], replacing old: [UInt8]?
    ) throws(PreferencesError) -> [UInt8] {
      var text = ""
      for (name, value) in values { text += "\(name) = \(try String(preferenceValue: value))\n" }
      return Array(text.utf8)
    }
  }

  /// The code of the catalogs that needs the trait, word for word: Scripts/documents guide compares the two.
  struct GuideTests {
    private let settings = DictionaryPreferences()

    @Test func `a property list is loaded into a store`() async throws {
      let bytes = try PropertyListFormat().bytes(of: ["port": 8080], replacing: nil)
      let server = try LoopbackServer(LoopbackServer.response(200, [], String(decoding: bytes, as: UTF8.self)))
      let url = server.url()

      let remote = try RemotePropertyListPreferences(at: url)
      try await remote.load(into: settings)

      #expect(settings["port"] == 8080)
    }

    @Test func `JSON is loaded with header fields and is a layer`() async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], #"{"port": 8080}"#))
      let url = server.url()

      let remote = try RemoteJSONPreferences(at: url) { ["Accept": "application/json"] }
      try await remote.load()
      let preferences = CompositePreferences([settings, remote])

      #expect(try preferences.integer(forKey: "port") == 8080)
    }

    @Test func `a format of one's own is loaded`() async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], "motd = hello\n"))
      let url = server.url()

      let remote = try RemotePreferences(at: url, format: LineFormat())
      try await remote.load()

      #expect(try remote.string(forKey: "motd") == "hello")
    }

    @Test func `values are loaded again and again, and their age is known`() async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], #"{"port": 8080}"#))
      let url = server.url()
      let start = ContinuousClock.now

      let remote = try RemoteJSONPreferences(at: url)
      try await remote.load()
      let refresh = Task { await remote.load(every: .seconds(60)) }
      let isFresh = remote.age.map { $0 < .seconds(300) } ?? false

      refresh.cancel()
      await refresh.value
      #expect(isFresh || ContinuousClock.now - start > .seconds(300))
      #expect(remote["port"] == 8080)
    }

    @Test func `a client of one's own fetches the values`() async throws {
      let server = try LoopbackServer { request, connection in
        let isKnown = request.headers["if-none-match"] == #""1""#
        // The reader's client keeps connections, and the server closes each.
        let fields = [#"ETag: "1""#, "Connection: close"]
        connection.send(LoopbackServer.response(isKnown ? 304 : 200, fields, isKnown ? "" : #"{"port": 8080}"#))
      }
      let (client, address) = (HTTPClient.shared, server.url().absoluteString)

      let remote = RemoteJSONPreferences(name: "shop settings") { request in
        var get = HTTPClientRequest(url: address)
        get.headers = HTTPHeaders(request.headers.map { ($0.key, $0.value) })
        let response = try await client.execute(get, timeout: .seconds(30))
        return RemoteResponse(
          status: Int(response.status.code),
          bytes: try await response.body.collect(upTo: request.maximumByteCount).readableBytesView,
          entityTag: response.headers.first(name: "ETag"))
      }

      #expect(try await remote.load() == .updated)
      #expect(try await remote.load() == .notModified)
      #expect(remote["port"] == 8080)
    }
  }
#endif
