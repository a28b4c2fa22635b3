#if SettingsPage
  import Glibc
  import PreferencesSettings
  import Preferences
  import SettingsPage
  import Testing

  /// Changes that are made elsewhere.
  struct EventTests {
    private let store = DictionaryPreferences()
  }

  extension EventTests {
    @Test func `the state of each setting is the first event of it`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        try await browser.events { events in
          var names: Set<String> = []
          for _ in 0..<5 {
            let event = try #require(await events.next())
            let name = try #require(event.firstMatch(of: /"id":\d/))
            names.insert(String(name.0))
          }
          #expect(names == ["\"id\":0", "\"id\":1", "\"id\":2", "\"id\":3", "\"id\":4"])
        }
      }
    }

    @Test func `a change that is made elsewhere is an event`() async throws {
      try await withPage([Setting(.greeting, in: store)]) { browser async throws in
        try await browser.events { events in
          let first = try #require(await events.next())
          #expect(first.contains(#""text":"Welcome""#))
          try await store.set("Hello", for: .greeting)
          let second = try #require(await events.next())
          #expect(second.contains(#""text":"Hello""#))
        }
      }
    }

    @Test func `a state that was read later has a larger version`() async throws {
      try await withPage([Setting(.greeting, in: store)]) { browser async throws in
        func version(_ text: String) throws -> Int {
          let match = try #require(text.firstMatch(of: /"version":(\d+)/))
          return try #require(Int(match.1))
        }
        let first = try version(try await browser.change(0, ["text": "a"]).text)
        let second = try version(try await browser.change(0, ["text": "b"]).text)
        #expect(first < second)
      }
    }

    @Test func `events end with the session`() async throws {
      try await withPage([Setting(.greeting, in: store)]) { browser async throws in
        try await browser.events { events in
          _ = await events.next()
          _ = try await Browser(browser.page, browser.log, opening: browser.page.url ?? "")
          try await store.set("Hello", for: .greeting)
          #expect(await events.next() == nil)
        }
      }
    }

    @Test func `a shutdown does not wait for a client that has sent half a request`() async throws {
      let clock = ContinuousClock()
      var (begin, client): (ContinuousClock.Instant, CInt) = (clock.now, -1)
      try await withPage([Setting(.greeting, in: store)]) { browser async throws in
        client = try connect(to: browser.port)
        let request =
          "POST \(browser.path)change/0 HTTP/1.1\r\nHost: 127.0.0.1:\(browser.port)\r\n"
          + "Origin: \(browser.origin)\r\nCookie: \(browser.cookie)\r\nContent-Length: 100\r\n\r\ntoken="
        #expect(write(client, request, request.utf8.count) == request.utf8.count)
        try await Task.sleep(for: .milliseconds(300))
        begin = clock.now
      }
      // Less than the time after which a request that does not arrive is closed.
      #expect(clock.now - begin < .seconds(25))
      close(client)
    }

    private func connect(to port: Int) throws -> CInt {
      let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(client, $0, length) }
      }
      try #require(result == 0)
      return client
    }

    @Test func `events end when the server shuts down`() async throws {
      var ended: Task<String?, any Error>?
      try await withPage([Setting(.greeting, in: store)]) { browser async throws in
        let (open, isOpen) = AsyncStream.makeStream(of: Void.self)
        ended = Task {
          var last: String? = ""
          try await browser.events { events in
            _ = await events.next()
            isOpen.finish()
            last = await events.next()
          }
          return last
        }
        for await _ in open {}
      }
      #expect(try await ended?.value == .some(nil))
    }
  }
#endif
