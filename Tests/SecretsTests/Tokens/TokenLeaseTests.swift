import Foundation
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Testing

/// Tokens that several processes share: handles of their own, and real processes at the end.
@Suite(.throwawayVault) struct TokenLeaseTests {}

extension TokenLeaseTests {
  private static let lease = TokenFixture.lease

  /// Behaves as a process that has taken the lease and then ended: its refresh waits at a door, and its clock stands
  /// still.
  private static func crash(_ fixture: TokenFixture) async throws -> Door {
    let door = Door()
    let token = try fixture.token(fixture.options { $0.clock = TestClock() }) {
      _ = try fixture.issue(for: $0)
      await door.pass()
      throw CancellationError()
    }
    Task { try await token.accessToken() }
    try await door.isReached()
    return door
  }

  @Test func `two processes refresh once, and the second gets the token of the first`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let first = try fixture.token(waitingAt: door)
    let second = try fixture.token()
    try await first.set(fixture.tokens(0, lifetime: -1))

    try await fixture.expectOneRefresh(of: first, waitingAt: door, beside: second)
  }

  @Test func `when the process that refreshes has ended, the others refresh once, after no more than its lease`()
    async throws
  {
    let fixture = TokenFixture()
    let others = try (0..<4).map { _ in try fixture.token() }
    try await others[0].set(fixture.tokens(0, lifetime: -1))
    let door = try await Self.crash(fixture)
    defer { door.open() }

    let texts = try await fixture.clock.run(until: Self.lease) {
      try await withThrowingTaskGroup { group in
        for token in others { group.addTask { try await token.text() } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
    }

    #expect(texts == ["a2"])
    #expect(fixture.requests == ["r0", "r0"])
    #expect(fixture.clock.now.sinceStart == Self.lease)
  }

  @Test(arguments: [-1e9, -1, 5, 1e9]) func `a clock that jumps makes no process wait longer than the lease`(
    jump: TimeInterval
  ) async throws {
    let fixture = TokenFixture()
    let other = try fixture.token()
    try await other.set(fixture.tokens(0, lifetime: -2e9))
    let door = try await Self.crash(fixture)
    defer { door.open() }

    fixture.jump(by: jump)
    let text = try await fixture.clock.run(until: Self.lease) { try await other.text() }

    #expect(text == "a2")
    #expect(fixture.requests == ["r0", "r0"])
  }

  @Test(arguments: [-1e9, 1e9]) func `a clock that jumps during a refresh causes no second one by those who wait`(
    jump: TimeInterval
  ) async throws {
    let fixture = TokenFixture()
    let door = Door()
    let first = try fixture.token(waitingAt: door)
    let second = try fixture.token()
    try await first.set(fixture.tokens(0, lifetime: -2e9))
    let refreshing = Task { try await first.text() }
    try await door.isReached()
    let waiting = Task { try await second.text() }
    try await fixture.clock.sleep(of: 2)

    fixture.jump(by: jump)
    for _ in 0..<5 {
      fixture.clock.wakeNext(before: .seconds(1))
      try await Task.sleep(for: .milliseconds(2))
    }
    door.open()

    #expect(try await refreshing.value == "a1")
    #expect(try await fixture.clock.run(until: .seconds(1)) { try await waiting.value } == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `a pause ends when the clock is set back`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token {
      if fixture.requests == [] {
        _ = try fixture.issue(for: $0)
        throw RefreshFailure(.rejected)
      }
      return try fixture.issue(for: $0)
    }
    try await token.set(fixture.tokens(0, lifetime: -2e9))

    #expect(try await token.failure() == .rejected)
    #expect(try await token.failure() == .rejected)
    #expect(try token.state()?.failure == .rejected)
    #expect(try token.state()?.isRefreshable == false)
    fixture.jump(by: -1e9)

    #expect(try await token.text() == "a2")
  }

  @Test func `a refused refresh token is refused for all processes, without another request until the pause is over`()
    async throws
  {
    let fixture = TokenFixture()
    let door = Door()
    let first = try fixture.token {
      await door.pass()
      _ = try fixture.issue(for: $0)
      throw RefreshFailure(.rejected)
    }
    let second = try fixture.token()
    try await first.set(fixture.tokens(0, lifetime: -1))
    let calls = (0..<8).map { _ in Task { try await first.failure() } }
    try await door.isReached()
    let waiting = Task { try await second.failure() }
    try await fixture.clock.sleep(of: 2)
    door.open()

    for call in calls { #expect(try await call.value == .rejected) }
    #expect(try await fixture.clock.run(until: .seconds(1)) { try await waiting.value } == .rejected)
    for token in [first, second, try fixture.token()] { #expect(try await token.failure() == .rejected) }
    #expect(fixture.requests == ["r0"])
    fixture.jump(by: 31)
    #expect(try await second.text() == "a2")
    #expect(try await first.text() == "a2")
  }

  @Test func `a sign-in ends the pause after a refused refresh token`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token { _ in throw RefreshFailure(.rejected) }
    try await token.set(fixture.tokens(0, lifetime: -1))
    #expect(try await token.failure() == .rejected)

    try await token.set(fixture.tokens(1))

    #expect(try await token.text() == "a1")
  }

  @Test func `a refresh that hangs ends with its lease, and after a pause another process may try`() async throws {
    let fixture = TokenFixture()
    let hanging = try fixture.token {
      _ = try fixture.issue(for: $0)
      try await Task.sleep(for: .seconds(3600))
      throw CancellationError()
    }
    let other = try fixture.token()
    try await hanging.set(fixture.tokens(0, lifetime: -1))

    #expect(try await fixture.clock.run(until: Self.lease) { try await hanging.failure() } == .timedOut)
    #expect(try await other.failure() == .timedOut)
    #expect(fixture.requests == ["r0"])
    fixture.jump(by: 1)

    #expect(try await other.text() == "a2")
    #expect(try await hanging.text() == "a2")
  }

  @Test func `tokens that arrive after the lease are stored if there are no newer ones`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let slow = try fixture.token(waitingAt: door)
    try await slow.set(fixture.tokens(0, lifetime: -1))
    #expect(try await fixture.clock.run(until: Self.lease) { try await slow.failure() } == .timedOut)

    door.open()

    let other = try fixture.token()
    while try await other.failure() == .timedOut { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try await other.text() == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test(arguments: [false, true])
  func `a process that was slower than its lease gets the token of the one that took over`(
    isRefused: Bool
  ) async throws {
    let fixture = TokenFixture()
    let door = Door()
    let slow = try fixture.token(fixture.options { $0.clock = TestClock() }) {
      await door.pass()
      if isRefused { throw RefreshFailure(.rejected) }
      return try fixture.issue(for: $0)
    }
    let other = try fixture.token()
    try await slow.set(fixture.tokens(0, lifetime: -1))
    let call = Task { try await slow.text() }
    try await door.isReached()

    #expect(try await fixture.clock.run(until: Self.lease) { try await other.text() } == "a1")
    door.open()

    #expect(try await call.value == "a1")
    #expect(try await slow.text() == "a1")
    #expect(try await other.text() == "a1")
  }

  // Exit tests capture values since Swift 6.3.
  #if compiler(>=6.3)
    @Test func `eight processes of sixteen tasks ask for an expired token, and the server is called once`() async throws
    {
      let site = try ProcessSite()
      let files = site.files

      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask {
            await #expect(processExitsWith: .success) { [folder = files.folder as String, number = number as Int] in
              let site = ProcessSite.Files(folder: folder)
              let token = try site.token { refreshToken in
                try site.note("requests")
                try await Task.sleep(for: .milliseconds(50))
                return try .init(access: "new", refresh: "next", expires: Date() + 3600)
              }
              try site.note("ready")
              while site.count("ready") < 8 { try await Task.sleep(for: .milliseconds(1)) }
              try await withThrowingTaskGroup { group in
                for _ in 0..<16 { group.addTask { try await token.text() } }
                for try await text in group { #expect(text == "new", "process \(number)") }
              }
            }
          }
        }
        try await group.waitForAll()
      }

      #expect(files.count("ready") == 8)
      #expect(files.count("requests") == 1)
      withExtendedLifetime(site) {}
    }

    @Test func `the process that refreshes is killed, and the others call the server once more`() async throws {
      let site = try ProcessSite()
      let files = site.files

      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(processExitsWith: .signal(SIGKILL)) { [folder = files.folder as String] in
            let site = ProcessSite.Files(folder: folder)
            let token = try site.token(lease: .milliseconds(300)) { _ in
              try site.note("requests")
              try await Task.sleep(for: .milliseconds(20))
              kill(getpid(), SIGKILL)
              throw CancellationError()
            }
            while site.count("ready") < 4 { try await Task.sleep(for: .milliseconds(1)) }
            _ = try await token.accessToken()
          }
        }
        for number in 0..<4 {
          group.addTask {
            await #expect(processExitsWith: .success) { [folder = files.folder as String, number = number as Int] in
              let site = ProcessSite.Files(folder: folder)
              let token = try site.token { _ in
                try site.note("requests")
                return try .init(access: "new", refresh: "next", expires: Date() + 3600)
              }
              try site.note("ready")
              while site.count("requests") == 0 { try await Task.sleep(for: .milliseconds(1)) }
              #expect(try await token.text() == "new", "process \(number)")
            }
          }
        }
        try await group.waitForAll()
      }

      #expect(files.count("requests") == 2)
      withExtendedLifetime(site) {}
    }
  #endif
}

#if compiler(>=6.3)
  /// A vault with an expired token, and files that count what the processes of a test have done.
  private final class ProcessSite {
    let folder: TemporaryFolder
    var files: Files { Files(folder: folder.path) }

    init() throws {
      folder = try TemporaryFolder()
      let key = try SealingKey(from: .system)
      let vault = try Vault.create(at: folder.path + "/vault.spv", slots: [NewSlot(.key(key))])
      let store = try SecretPreferences(service: "shop", in: vault)
      try store.set(PreferenceValue.dictionary(["access": "old", "refresh": "r0", "expires": 1]), forKey: "github")
      try key.withUnsafeBytes { try Data($0).write(to: URL(filePath: folder.path + "/key")) }
    }

    struct Files: Sendable {
      let folder: String

      /// Adds one byte to a file, which is atomic between processes.
      func note(_ name: String) throws {
        let file = open(folder + "/" + name, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(file) }
        try #require(write(file, "x", 1) == 1)
      }

      func count(_ name: String) -> Int { FileManager.default.contents(atPath: folder + "/" + name)?.count ?? 0 }

      func token(
        lease: Duration = .seconds(60),
        _ refresh: @escaping @Sendable (Secret<String>) async throws -> RefreshingToken.Tokens
      ) throws -> RefreshingToken {
        let key = try Data(contentsOf: URL(filePath: folder + "/key")).withUnsafeBytes { try SealingKey(copying: $0) }
        let vault = try Vault.open(at: folder + "/vault.spv", credential: .key(key))
        var options = RefreshingToken.Options()
        options.lease = lease
        return RefreshingToken(
          "github", in: try SecretPreferences(service: "shop", in: vault), options: options, refresh: refresh)
      }
    }
  }
#endif
