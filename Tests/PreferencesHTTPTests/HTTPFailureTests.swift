#if HTTP
  import Foundation
  import Preferences
  import PreferencesHTTP
  import Testing

  /// Responses with an unexpected status, content or size.
  struct HTTPFailureTests {}

  extension HTTPFailureTests {
    // MARK: Status

    @Test(arguments: [
      101, 201, 202, 204, 205, 206, 300, 304, 305, 400, 401, 403, 404, 407, 410, 416, 429, 500, 503, 599, 999,
    ])
    func `item 23: a status that brings no content is an error that names it`(status: Int) async throws {
      let body = status == 204 || status == 304 ? "" : "{}"
      let error = try await remoteFailure(of: LoopbackServer.response(status, [], body))
      #expect(error.code == .unexpectedStatus)
      #expect(error.message.hasSuffix("the server responded with status \(status)"))
      #expect(error.cause as? UnexpectedStatus == UnexpectedStatus(status: status))
    }

    @Test(arguments: ["", "Basic", "Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"y\""])
    func `a response that demands authentication is an error`(challenge: String) async throws {
      let error = try await remoteFailure(of: LoopbackServer.response(401, ["WWW-Authenticate: \(challenge)"], "{}"))
      #expect(error.cause as? UnexpectedStatus == UnexpectedStatus(status: 401))
    }

    @Test func `the status counts before the size of an error page, and before its end`() async throws {
      let page = String(repeating: "x", count: 100_000)
      for answer in [LoopbackServer.response(404, [], page), "HTTP/1.1 404 No\r\nContent-Length: 1000000\r\n\r\nx"] {
        #expect(try await remoteFailure(of: answer, upTo: 1_000).code == .unexpectedStatus)
      }
    }

    @Test func `interim responses are passed over`() async throws {
      let hints = "HTTP/1.1 103 Early Hints\r\nETag: 9\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
      let server = try LoopbackServer(hints + LoopbackServer.response(200, [], #"{"port": 1}"#))
      let settings = try RemoteJSONPreferences(at: server.url())
      try await settings.load()
      try await settings.load()
      #expect(settings["port"] == 1)
      #expect(server.requests.allSatisfy { $0.headers["if-none-match"] == nil })
    }

    // MARK: Content

    @Test(arguments: ["gzip", "br", "zstd", "deflate, gzip", "GZIP"])
    func `a response with a content encoding is refused, whatever the encoding`(encoding: String) async throws {
      let error = try await remoteFailure(of: LoopbackServer.response(200, ["Content-Encoding: \(encoding)"], "{}"))
      #expect(error.code == .malformed)
      #expect(error.message.hasSuffix("the response is encoded, which was not requested"))
    }

    @Test func `a response that would unfold into a gigabyte is refused before it is read`() async throws {
      let isGone = Signal()
      let server = try LoopbackServer { _, connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        // Stored blocks of zeros, without end.
        connection.send([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
        while connection.send([0, 0xFF, 0xFF, 0, 0] + repeatElement(0, count: 65_535)) {}
        isGone.send()
      }
      let settings = try RemoteJSONPreferences(at: server.url())
      #expect(await preferencesError { try await settings.load() }?.code == .malformed)
      await isGone.wait()
    }

    // MARK: Size

    /// `{"a": "xxx"}` of that many bytes.
    static func body(_ count: Int) -> String { #"{"a": ""# + String(repeating: "x", count: count - 9) + #""}"# }

    static let framings: [@Sendable (String) -> String] = [
      { LoopbackServer.response(200, [], $0) },
      { "HTTP/1.1 200 OK\r\n\r\n\($0)" },
      {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n0\r\n\r\n"
      },
    ]

    @Test(arguments: framings.indices)
    func `item 23: one byte too many is refused, however it comes`(framing: Int) async throws {
      let answer = Self.framings[framing]
      let error = try await remoteFailure(of: answer(Self.body(100_001)), upTo: 100_000)
      #expect(error.code == .limitExceeded)
      #expect(error.message.hasSuffix("the response has more than 100000 bytes"))
      let server = try LoopbackServer(answer(Self.body(100_000)))
      let settings = try RemoteJSONPreferences(at: server.url(), maximumByteCount: 100_000)
      #expect(try await settings.load() == .updated)
    }

    @Test func `a response without end is broken off at the limit`() async throws {
      let isGone = Signal()
      let server = try LoopbackServer { _, connection in
        connection.send("HTTP/1.1 200 OK\r\n\r\n")
        while connection.send(repeatElement(0x20, count: 65_536)) {}
        isGone.send()
      }
      let settings = try RemoteJSONPreferences(at: server.url(), timeout: .seconds(600), maximumByteCount: 1 << 20)
      #expect(await preferencesError { try await settings.load() }?.code == .limitExceeded)
      await isGone.wait()
    }

    @Test func `an error page or a redirect without end is not read`() async throws {
      for (status, code) in [(404, PreferencesError.Code.unexpectedStatus), (302, .refusedRedirect)] {
        let isGone = Signal()
        let server = try LoopbackServer { _, connection in
          connection.send("HTTP/1.1 \(status) Received\r\nLocation: /\r\n\r\n")
          while connection.send(repeatElement(0x20, count: 65_536)) {}
          isGone.send()
        }
        let settings = try RemoteJSONPreferences(at: server.url(), timeout: .seconds(600), maximumRedirectCount: 0)
        #expect(await preferencesError { try await settings.load() }?.code == code)
        await isGone.wait()
      }
    }

    @Test func `a header field of 100 kB is refused`() async throws {
      let error = try await remoteFailure(
        of: "HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 100_000))\r\n\r\n{}")
      #expect(error.code == .unreachable)
    }

    @Test func `interim responses without end are kept nowhere, and end at the time limit`() async throws {
      let isGone = Signal()
      let server = try LoopbackServer { _, connection in
        let hint = "HTTP/1.1 103 Early Hints\r\nA: \(String(repeating: "x", count: 60_000))\r\n\r\n"
        while connection.send(hint) {}
        isGone.send()
      }
      try await loadUntilTimeLimit(from: server)
      await isGone.wait()
    }
  }
#endif
