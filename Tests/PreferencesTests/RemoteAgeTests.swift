import Preferences
import Testing

/// How old the values are, and loads that are repeated.
struct RemoteAgeTests {
  private let clock = TestClock()
}

extension RemoteAgeTests {
  // MARK: Age

  @Test func `without values there is no age`() async throws {
    let settings = ScriptedServer(.status(500)).settings(clock: clock)
    #expect(settings.age == nil)
    #expect(await preferencesError { try await settings.load() }?.code == .unexpectedStatus)
    #expect(settings.age == nil)
  }

  @Test func `the age is that of the request that returned or confirmed the values`() async throws {
    let settings = ScriptedServer(
      .json("{}", entityTag: #""1""#), .status(500), .status(304), .json("{}", entityTag: #""1""#)
    ).settings(clock: clock)
    try await settings.load()
    #expect(settings.age == .zero)
    clock.advance(by: .seconds(30))
    #expect(settings.age == .seconds(30))
    #expect(await preferencesError { try await settings.load() }?.code == .unexpectedStatus)
    #expect(settings.age == .seconds(30))
    try await settings.load()
    #expect(settings.age == .zero)
    clock.advance(by: .seconds(5))
    try await settings.load()
    #expect(settings.age == .zero)
  }

  @Test func `the time of the transfer is part of the age`() async throws {
    let settings = RemoteJSONPreferences(name: "test server", clock: clock) { [clock] _ in
      clock.advance(by: .seconds(7))
      return .json("{}")
    }
    try await settings.load()
    #expect(settings.age == .seconds(7))
  }

  // MARK: Repeated loads

  /// Runs `body` while `settings` are loaded every `interval`. Returns the errors that were reported.
  private func whileLoading(
    _ settings: RemoteJSONPreferences, every interval: Duration, _ body: () async throws -> Void
  ) async throws -> [PreferenceFailures.Failure] {
    let failures = Received<PreferenceFailures.Failure>()
    let task = PreferenceFailures.withHandler({ failures.add($0) }) {
      Task { await settings.load(every: interval) }
    }
    try await body()
    task.cancel()
    await task.value
    return failures.all
  }

  @Test func `without values they are loaded at once, then at each interval`() async throws {
    let server = ScriptedServer(.json(#"{"port": 1}"#), .json(#"{"port": 2}"#))
    let settings = server.settings(clock: clock)
    let failures = try await whileLoading(settings, every: .seconds(60)) {
      try await clock.sleep(of: 1)
      #expect(settings["port"] == 1)
      clock.advance(by: .seconds(59))
      #expect(server.requests.count == 1)
      clock.advance(by: .seconds(1))
      try await clock.sleep(of: 1)
      #expect(settings["port"] == 2)
    }
    #expect(server.requests.count == 2)
    #expect(failures.isEmpty)
  }

  @Test func `values that are loaded already are loaded again when they are as old as the interval`() async throws {
    let server = ScriptedServer(.json("{}"))
    let settings = server.settings(clock: clock)
    try await settings.load()
    clock.advance(by: .seconds(20))
    _ = try await whileLoading(settings, every: .seconds(60)) {
      try await clock.sleep(of: 1)
      #expect(server.requests.count == 1)
      clock.advance(by: .seconds(40))
      try await clock.sleep(of: 1)
      #expect(server.requests.count == 2)
    }
  }

  @Test func `after a failure the values stay, the error is reported, and the next load comes`() async throws {
    let server = ScriptedServer(.json(#"{"port": 1}"#), .status(503), .json(#"{"port": 3}"#))
    let settings = server.settings(clock: clock)
    let failures = try await whileLoading(settings, every: .seconds(60)) {
      for port in [1, 1, 3] {
        try await clock.sleep(of: 1)
        #expect(settings["port"] == .integer(Int64(port)))
        clock.advance(by: .seconds(60))
      }
      try await clock.sleep(of: 1)
    }
    #expect(failures.map { ($0.error as? PreferencesError)?.code } == [.unexpectedStatus])
    #expect(failures.map(\.key) == ["*"])
    #expect(failures.map(\.reader) == ["test server"])
  }

  @Test(arguments: [Duration.zero, .seconds(-5), .milliseconds(10)])
  func `a shorter interval than a second counts as a second`(interval: Duration) async throws {
    let server = ScriptedServer(.json("{}"))
    _ = try await whileLoading(server.settings(clock: clock), every: interval) {
      try await clock.sleep(of: 1)
      clock.advance(by: .milliseconds(999))
      #expect(server.requests.count == 1)
      clock.advance(by: .milliseconds(1))
      try await clock.sleep(of: 1)
      #expect(server.requests.count == 2)
    }
  }

  @Test func `a load that is cancelled is not reported`() async throws {
    let arrived = Signal()
    let settings = RemoteJSONPreferences(name: "test server", clock: clock) { _ in
      arrived.send()
      try await Task.sleep(for: .seconds(100_000))
      return .json("{}")
    }
    #expect(try await whileLoading(settings, every: .seconds(60)) { await arrived.wait() }.isEmpty)
  }
}
