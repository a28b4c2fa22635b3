#if SettingsPage
  import PreferenceSettings
  import Preferences
  import SettingsPage
  import Testing

  /// Changes that are made elsewhere.
  @Suite(.timeLimit(.minutes(10)))
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
