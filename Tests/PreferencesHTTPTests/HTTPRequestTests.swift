#if HTTP
  import Foundation
  import Preferences
  import Synchronization
  import Testing

  @testable import PreferencesHTTP

  /// What is requested of which server, and what descriptions show of it.
  struct HTTPRequestTests {}

  extension HTTPRequestTests {
    @Test(arguments: [
      "file:///etc/passwd", "ftp://example.com/a", "data:,{}", "https:///a", "http:", "example.com/a", "",
      "http://example.com:0/", "http://example.com:65536/", "http://a%20b/", "http://a%0D%0Ab/", "unix:///run/a",
      "http+unix://%2Frun%2Fa/b", "https+unix://%2Frun%2Fa/b",
    ])
    func `only web addresses are requested`(text: String) throws {
      guard let url = URL(string: text) else { return }
      let error = preferencesError { _ = try RemoteJSONPreferences(at: url) }
      #expect(error?.code == .unreachable)
      #expect(error?.message == "JSON file: the URL is not one of http or https with a host")
    }

    // MARK: Headers

    @Test func `header fields are computed at each load`() async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], "{}"))
      let tokens = Answers(["one", "two"])
      let settings = try RemoteJSONPreferences(at: server.url()) {
        ["Authorization": "Bearer \(tokens.next())", "X-Empty": "", "user-agent": "shop/1"]
      }
      #expect(server.requests.isEmpty)
      try await settings.load()
      try await settings.load()
      #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer one", "Bearer two"])
      #expect(server.requests[0].headers["x-empty"] == "")
      #expect(server.requests[0].headers["user-agent"] == "shop/1")
      #expect(server.requests[0].headers["accept-encoding"] == "identity")
    }

    @Test(arguments: [
      "a\nb", "a\r\nX-Other: b", "a\u{0}b", "\u{7F}",
    ])
    func `a header value that would be another field is refused, and never shown`(value: String) async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], "{}"))
      let settings = try RemoteJSONPreferences(at: server.url()) { ["X-Token": sentinel + value] }
      let error = await preferencesError { try await settings.load() }
      #expect(error?.code == .malformed)
      #expect(error?.message.hasSuffix("the header field \"X-Token\" has control characters") == true)
      #expect(!dumped(error as Any).contains(sentinel))
      #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["", "a b", "a:b", "a\r\nb", "é", "a;"])
    func `a header name that is none is refused`(name: String) async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], "{}"))
      let settings = try RemoteJSONPreferences(at: server.url()) { [name: "x"] }
      #expect(await preferencesError { try await settings.load() }?.code == .malformed)
      #expect(server.requests.isEmpty)
    }

    @Test func `an error of the header closure is thrown to the caller`() async throws {
      struct Locked: Error {}
      let server = try LoopbackServer(LoopbackServer.response(200, [], "{}"))
      let settings = try RemoteJSONPreferences(at: server.url()) { throw Locked() }
      await #expect(throws: Locked.self) { try await settings.load() }
      #expect(server.requests.isEmpty)
    }

    // MARK: Redirects

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is followed, with the header fields on the same server`(status: Int) async throws {
      let server = try LoopbackServer { request, connection in
        if request.path == "/a/b?c=d" {
          connection.send(LoopbackServer.response(200, [], #"{"port": 1}"#))
        } else {
          connection.send(LoopbackServer.response(status, ["Location: /a/b?c=d"], "moved"))
        }
      }
      let settings = try RemoteJSONPreferences(at: server.url("/x")) { ["Authorization": "secret"] }
      #expect(try await settings.load() == .updated)
      #expect(server.requests.map(\.path) == ["/x", "/a/b?c=d"])
      #expect(server.requests.allSatisfy { $0.headers["authorization"] == "secret" })
    }

    @Test func `another server does not get the header fields, and what it sends back to does`() async throws {
      let home = Answers(["first", "again"])
      let back = Mutex<URL?>(nil)
      let other = try LoopbackServer { _, connection in
        connection.send(LoopbackServer.response(302, ["Location: \(back.withLock(\.self)?.absoluteString ?? "")"]))
      }
      let server = try LoopbackServer { _, connection in
        if home.next() == "first" {
          connection.send(LoopbackServer.response(302, ["Location: \(other.url("/there"))"]))
        } else {
          connection.send(LoopbackServer.response(200, [], "{}"))
        }
      }
      back.withLock { $0 = server.url("/back") }
      let settings = try RemoteJSONPreferences(at: server.url()) { ["X-Api-Key": "secret", "User-Agent": "mine"] }
      #expect(try await settings.load() == .updated)
      #expect(other.requests.map { $0.headers["x-api-key"] } == [nil])
      #expect(other.requests.map { $0.headers["user-agent"] } == ["SecretPreferences"])
      #expect(server.requests.map { $0.headers["x-api-key"] } == ["secret", "secret"])
    }

    @Test(arguments: 0...3)
    func `redirects are followed as often as is said`(maximum: Int) async throws {
      let server = try LoopbackServer(LoopbackServer.response(302, ["Location: /again"]))
      let settings = try RemoteJSONPreferences(at: server.url(), maximumRedirectCount: maximum)
      let error = await preferencesError { try await settings.load() }
      #expect(error?.code == .refusedRedirect)
      #expect(error?.message.hasSuffix("more than \(maximum) redirects") == true)
      #expect(server.requests.count == maximum + 1)
    }

    @Test(arguments: [
      "Location: ftp://127.0.0.1/a", "Location: file:///etc/passwd", "Location: javascript:alert(1)", "Location:",
      "A: b",
      "Location: http://", "Location: http://a b/", "Location: http://127.0.0.1:99999/", "Location: mailto:a@b",
      "Location: http://a%0D%0Ab/", "Location: http+unix://%2Frun%2Fa/b", "Location: unix:///run/a",
      "Location: http://a:0/",
    ])
    func `a redirect to nowhere is refused`(field: String) async throws {
      let server = try LoopbackServer(LoopbackServer.response(302, [field]))
      let settings = try RemoteJSONPreferences(at: server.url(), maximumRedirectCount: 1)
      #expect(await preferencesError { try await settings.load() }?.code == .refusedRedirect)
    }

    private func address(_ text: String) throws -> HTTPAddress {
      let url = try #require(URL(string: text))
      return try #require(HTTPAddress(url))
    }

    /// The target of a redirect, as it is requested.
    private func target(_ location: String, from place: String) throws -> String {
      try address(place).redirected(to: location).text
    }

    @Test func `a redirect from https to http is refused, the other way is fine`() throws {
      #expect(
        preferencesError { _ = try target("http://example.com/", from: "https://example.com/") }?.code
          == .refusedRedirect)
      #expect(preferencesError { _ = try target("HTTP://a/", from: "HTTPS://a/") }?.code == .refusedRedirect)
      #expect(try target("https://example.com/", from: "http://example.com/") == "https://example.com/")
      #expect(try target("https://other.com/", from: "https://example.com/") == "https://other.com/")
      #expect(try target("//other.com/x", from: "https://example.com/") == "https://other.com/x")
    }

    @Test(arguments: [
      ("http://example.com/a", "HTTP://Example.com:80/b", true),
      ("https://example.com/a", "https://example.com:443/", true),
      ("http://example.com/a", "http://example.com:81/", false),
      ("http://example.com/a", "https://example.com/", false),
      ("http://example.com/a", "http://www.example.com/", false),
      ("http://example.com/a", "http://example.com./", false),
      ("http://me:pw@example.com/a", "http://you@example.com/b", true),
    ])
    func `the origin is scheme, host and port`(one: String, other: String, isSame: Bool) throws {
      #expect(try address(one).hasOrigin(of: address(other)) == isSame)
    }

    @Test func `a password in the URL is sent to its own server only`() async throws {
      let other = try LoopbackServer(LoopbackServer.response(200, [], "{}"))
      let server = try LoopbackServer(LoopbackServer.response(302, ["Location: \(other.url())"]))
      let url = try #require(URL(string: "http://me:p%40ss@127.0.0.1:\(server.port)/"))
      try await RemoteJSONPreferences(at: url).load()
      #expect(server.requests[0].headers["authorization"] == "Basic \(Data("me:p@ss".utf8).base64EncodedString())")
      #expect(other.requests[0].headers["authorization"] == nil)
      let own = try RemoteJSONPreferences(at: url) { ["authorization": "Bearer own"] }
      try await own.load()
      #expect(server.requests[1].headers["authorization"] == "Bearer own")
    }

    // MARK: Versions

    @Test func `item 23: the second load requests changes only`() async throws {
      let server = try LoopbackServer { request, connection in
        let isKnown = request.headers["if-none-match"] == #""a1""#
        let fields = [#"ETag: "a1""#, "Last-Modified: Tue, 02 Jan 2024 03:04:05 GMT"]
        connection.send(LoopbackServer.response(isKnown ? 304 : 200, fields, isKnown ? "" : #"{"port": 1}"#))
      }
      let settings = try RemoteJSONPreferences(at: server.url())
      #expect(try await settings.load() == .updated)
      #expect(try await settings.load() == .notModified)
      #expect(settings["port"] == 1)
      #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, #""a1""#])
      #expect(server.requests[1].headers["if-modified-since"] == "Tue, 02 Jan 2024 03:04:05 GMT")
    }

    @Test func `what a redirect leads to has no version`() async throws {
      let server = try LoopbackServer { request, connection in
        let isTarget = request.path == "/target"
        connection.send(
          LoopbackServer.response(isTarget ? 200 : 302, [#"ETag: "1""#, "Location: /target"], isTarget ? "{}" : ""))
      }
      let settings = try RemoteJSONPreferences(at: server.url())
      #expect(try await settings.load() == .updated)
      #expect(try await settings.load() == .updated)
      #expect(server.requests.count == 4)
      #expect(server.requests.allSatisfy { $0.headers["if-none-match"] == nil })
    }

    @Test func `a server that a redirect leads to cannot confirm the values of the first`() async throws {
      let answers = Answers([
        LoopbackServer.response(200, [#"ETag: "1""#], #"{"port": 1}"#),
        LoopbackServer.response(302, ["Location: /target"]),
        LoopbackServer.response(304, [#"ETag: "1""#]),
      ])
      let server = try answers.server()
      let settings = try RemoteJSONPreferences(at: server.url())
      try await settings.load()
      let error = await preferencesError { try await settings.load() }
      #expect(error?.code == .unexpectedStatus)
      #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, #""1""#, nil])
    }

    // MARK: Descriptions

    @Test func `user, password and query are sent and never shown`() async throws {
      let answers = Answers([
        LoopbackServer.response(200, [], #"{"token": "\#(sentinel)"}"#), LoopbackServer.response(403, [], sentinel),
        LoopbackServer.response(200, [], sentinel), LoopbackServer.response(302, ["Location: ftp://\(sentinel)/"]),
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\(sentinel)",
      ])
      let server = try answers.server()
      let url = URL(string: "http://me:\(sentinel)@127.0.0.1:\(server.port)/a%20b?key=\(sentinel)#\(sentinel)")!
      let settings = try RemoteJSONPreferences(at: url) { ["X-Token": sentinel] }
      #expect(settings.name == "JSON file http://127.0.0.1:\(server.port)/a%20b")
      try await settings.load()
      #expect(settings["token"] == .string(sentinel))
      #expect(server.requests[0].path == "/a%20b?key=\(sentinel)")
      #expect(
        server.requests[0].headers["authorization"] == "Basic \(Data("me:\(sentinel)".utf8).base64EncodedString())")
      for text in ["\(settings)", dumped(settings)] { #expect(!text.contains(sentinel)) }
      for _ in 0..<4 {
        let error = try #require(await preferencesError { try await settings.load() })
        #expect(!dumped(error).contains(sentinel))
        #expect(!"\(error)".contains(sentinel))
      }
    }
  }
#endif
