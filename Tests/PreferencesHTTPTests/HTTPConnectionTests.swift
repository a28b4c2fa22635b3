#if HTTP
  import Foundation
  import Preferences
  import PreferencesHTTP
  import Synchronization
  import Testing

  private final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)
    func next() -> UInt64 { count.add(1, ordering: .relaxed).newValue }
  }

  /// Responses that break off or never come, and loads that are cancelled.
  struct HTTPConnectionTests {}

  extension HTTPConnectionTests {
    // MARK: Complete responses

    @Test(arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\nA: b\r\n",
      "HTTP/1.1 404 No\r\n", "HTTP/1.1 2", "HTTP/1.1 100 Continue\r\n\r\n", "", "\r\n", "hello world\n",
      "SSH-2.0-OpenSSH\r\n",
      "HTTP/1.1 abc OK\r\n\r\n{}", "HTTP/1.1 000 OK\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nHTTP/1.1 500 No: 1\r\n\r\n",
      "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", "HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\n{}",
      "HTTP/1.1 000 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 001 OK\r\n\r\n{}",
    ])
    func `item 23: an incomplete response is an error`(answer: String) async throws {
      #expect(try await remoteFailure(of: answer).code == .unreachable)
    }

    @Test(arguments: [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: ETag\r\n\r\n2\r\n{}\r\n0\r\nETag: 1\r\n\r\n",
      "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.0 200 OK\r\n\r\n{}",
      "HTTP/1.1 203 Changed\r\nContent-Length: 2\r\nContent-Encoding: identity\r\n\r\n{}",
    ])
    func `an unusual response is accepted`(answer: String) async throws {
      let server = try LoopbackServer(answer)
      let settings = try RemoteJSONPreferences(at: server.url())
      #expect(try await settings.load() == .updated)
      #expect(try await settings.load() == .updated)
      #expect(try settings.keys() == [])
      // What follows the body is no part of the head.
      #expect(server.requests.last?.headers["if-none-match"] == nil)
    }

    @Test func `item 23: a port without a listener is an error`() async throws {
      var server: LoopbackServer? = try LoopbackServer("")
      let url = try #require(server?.url())
      server = nil
      let settings = try RemoteJSONPreferences(at: url)
      // The last connection attempts may still be taken before the socket is closed.
      var error: PreferencesError?
      for _ in 0..<100 where error == nil { error = await preferencesError { try await settings.load() } }
      #expect(error?.code == .unreachable)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
    func `item 23: a response that does not come in time is an error`(beginning: String) async throws {
      let server = try LoopbackServer { _, connection in
        connection.send(beginning)
        connection.waitForClose()
      }
      let settings = try RemoteJSONPreferences(at: server.url(), timeout: .milliseconds(50))
      let error = await preferencesError { try await settings.load() }
      #expect(error?.code == .unreachable)
      #expect(error?.message.hasSuffix("no complete response in time") == true)
    }

    @Test
    func `a slow response ends at the time limit`() async throws {
      let isGone = Signal()
      let server = try LoopbackServer { _, connection in
        connection.send("HTTP/1.1 200 OK\r\n\r\n")
        while connection.send(" ") { usleep(1_000) }
        isGone.send()
      }
      try await loadUntilTimeLimit(from: server)
      await isGone.wait()
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func `a time limit that has passed at once is an error`(timeout: Duration) async throws {
      let server = try LoopbackServer { _, connection in connection.waitForClose() }
      let settings = try RemoteJSONPreferences(at: server.url(), timeout: timeout)
      #expect(await preferencesError { try await settings.load() }?.code == .unreachable)
    }

    @Test func `a very long time is one`() async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], "{}"))
      let settings = try RemoteJSONPreferences(at: server.url(), timeout: .seconds(Int64.max))
      #expect(try await settings.load() == .updated)
    }

    // MARK: Cancellation

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n{"])
    func `item 23: a cancelled task returns at once and nothing has changed`(beginning: String) async throws {
      let (arrived, isGone) = (Signal(), Signal())
      let server = try LoopbackServer { _, connection in
        connection.send(beginning)
        arrived.send()
        connection.waitForClose()
        isGone.send()
      }
      let settings = try RemoteJSONPreferences(at: server.url(), timeout: .seconds(100_000))
      let store = DictionaryPreferences()
      let load = Task { try await settings.load(into: store) }
      await arrived.wait()
      load.cancel()
      await #expect(throws: CancellationError.self) { try await load.value }
      #expect(preferencesError { _ = try settings.keys() }?.code == .unavailable)
      #expect(store.keys() == [])
      // Its connection ends, too.
      await isGone.wait()
    }

    @Test func `a task that was cancelled before sends no request`() async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], "{}"))
      let settings = try RemoteJSONPreferences(at: server.url())
      let load = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await settings.load()
      }
      await #expect(throws: CancellationError.self) { try await load.value }
      #expect(server.requests.isEmpty)
    }

    @Test func `loads that are cancelled at any time bring the values or none`() async throws {
      let server = try LoopbackServer(LoopbackServer.response(200, [], #"{"port": 1}"#))
      let settings = try RemoteJSONPreferences(at: server.url())
      for round in 0..<200 {
        let load = Task { try await settings.load() }
        for _ in 0..<(round * 10) { await Task.yield() }
        load.cancel()
        do {
          #expect(try await load.value == .updated)
        } catch { #expect(error is CancellationError) }
      }
      try await settings.load()
      #expect(settings["port"] == 1)
    }

    // MARK: Hostile servers

    @Test func `item 61: two thousand mutated responses end in values or an error`() async throws {
      let seed = Array(
        """
        HTTP/1.1 200 OK\r
        ETag: "a"\r
        Transfer-Encoding: chunked\r
        Location: /b\r
        \r
        c\r
        {"port": 80}\r
        0\r
        A: b\r
        \r\n
        """.utf8)
      let counter = Counter()
      let server = try LoopbackServer { _, connection in
        // Each response has its own seed, in whatever order the requests arrive.
        var random = SeededGenerator(seed: counter.next())
        var bytes = seed
        for _ in 0..<Int.random(in: 0...4, using: &random) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
          case 1 where bytes.count > 1: bytes.remove(at: place)
          case 2: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
          default: bytes = Array(bytes.prefix(place + 2))
          }
        }
        connection.send(bytes)
      }
      let settings = try RemoteJSONPreferences(at: server.url(), timeout: .seconds(5))
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<250 {
              do { try await settings.load() } catch { #expect(error is PreferencesError) }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif
