import Foundation
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Testing

/// Leases while the vault's lock is held by others, and while the processes' wall clocks differ.
@Suite(.throwawayVault) struct TokenClockTests {}

extension TokenClockTests {
  /// A token whose server needs eight of the lease's ten seconds.
  private static func slowToken(_ fixture: TokenFixture) throws -> RefreshingToken {
    try fixture.token {
      let tokens = try fixture.issue(for: $0)
      try await fixture.clock.sleep(for: .seconds(8))
      return tokens
    }
  }

  @Test func `a lease that waited for the vault's lock is renewed before the request, which has time to end`()
    async throws
  {
    let fixture = TokenFixture()
    let (first, second) = (try Self.slowToken(fixture), try Self.slowToken(fixture))
    try await first.set(fixture.tokens(0, lifetime: -1))

    let holder = try await fixture.whileLocked {
      let holder = Task { try await first.text() }
      try await fixture.isAwaitingLock()
      fixture.clock.advance(by: .seconds(8))
      return holder
    }
    // The request and the end of its lease, then who waits for them.
    try await fixture.clock.sleep(of: 2)
    let other = Task { try await second.text() }
    try await fixture.clock.sleep(of: 3)

    // No time passes while the holder stores what it got: on a busy disk that takes longer than the rest of its lease.
    fixture.clock.advance(by: .seconds(8))
    #expect(try await holder.value == "a1")
    #expect(try await fixture.clock.run(until: .seconds(30)) { try await other.value } == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `a request that was begun late is cancelled when its lease ends for others`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let first = try fixture.token {
      _ = try fixture.issue(for: $0)
      await door.pass()
      try await fixture.clock.sleep(for: .seconds(3600))
      throw CancellationError()
    }
    try await first.set(fixture.tokens(0, lifetime: -1))
    // Too short a wait to take a new lease for.
    let holder = try await fixture.whileLocked {
      let holder = Task { try await first.failure() }
      try await fixture.isAwaitingLock()
      fixture.clock.advance(by: .milliseconds(900))
      return holder
    }
    try await door.isReached()
    door.open()

    #expect(try await fixture.clock.run(until: TokenFixture.lease) { try await holder.value } == .timedOut)
    #expect(fixture.clock.now.sinceStart == TokenFixture.lease)
  }

  @Test func `without the lock for two leases no request is sent, and the next call sends one`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(fixture.tokens(0, lifetime: -1))

    let caller = try await fixture.whileLocked {
      let caller = Task { try await token.failure() }
      try await fixture.isAwaitingLock()
      fixture.clock.advance(by: TokenFixture.lease * 2)
      return caller
    }

    #expect(try await caller.value == .timedOut)
    #expect(fixture.requests == [])
    #expect(try await token.text() == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test(arguments: [-1e9, -3600, -11, -1, 1, 11, 3600, 1e9])
  func `a process whose wall clock differs sends no second request while the lease lasts`(
    difference: TimeInterval
  ) async throws {
    let fixture = TokenFixture()
    let door = Door()
    @Sendable func answer(_ refreshToken: Secret<String>) async throws -> RefreshingToken.Tokens {
      var tokens = try fixture.issue(for: refreshToken)
      tokens.expires = .distantFuture
      await door.pass()
      return tokens
    }
    let first = try fixture.token(nil, answer)
    let second = try fixture.token(fixture.options { $0.now = { fixture.date + difference } }, answer)
    try await first.set(fixture.tokens(0, lifetime: -2e9))
    let holder = Task { try await first.text() }
    try await door.isReached()

    let other = Task { try await second.text() }
    for _ in 0..<20 {
      fixture.clock.wakeNext(before: TokenFixture.lease - .milliseconds(200))
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(fixture.requests == ["r0"])
    door.open()

    #expect(try await holder.value == "a1")
    #expect(try await fixture.clock.run(until: TokenFixture.lease) { try await other.value } == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `the lease of a process that has ended is waited for once, and not once for each call`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    defer { door.open() }
    let crashed = try fixture.token(fixture.options { $0.clock = TestClock() }) {
      _ = try fixture.issue(for: $0)
      await door.pass()
      throw CancellationError()
    }
    let other = try fixture.token()
    try await other.set(fixture.tokens(0))
    fixture.jump(by: TokenFixture.lifetime - 30)
    Task { try await crashed.accessToken() }
    try await door.isReached()

    #expect(try await other.text() == "a0")
    fixture.clock.advance(by: TokenFixture.lease / 2)
    #expect(try await other.text() == "a0")
    fixture.clock.advance(by: TokenFixture.lease / 2)
    #expect(try await other.text() == "a2")
  }

  @Test func `late tokens leave the lease of the process that took over, whose request is under way`() async throws {
    let fixture = TokenFixture()
    let doors = [Door(), Door()]
    @Sendable func expired(_ number: Int) -> @Sendable (Secret<String>) async throws -> RefreshingToken.Tokens {
      {
        _ = try fixture.issue(for: $0)
        await doors[number].pass()
        return try .init(access: "a\(number)", refresh: "new", expires: fixture.date - 1)
      }
    }
    let slow = try fixture.token(fixture.options { $0.clock = TestClock() }, expired(0))
    let second = try fixture.token(nil, expired(1))
    try await slow.set(fixture.tokens(0, lifetime: -1))
    let late = Task { try await slow.text() }
    try await doors[0].isReached()
    let holder = Task { try await fixture.clock.run(until: TokenFixture.lease) { try await second.text() } }
    try await doors[1].isReached()

    doors[0].open()
    #expect(try await late.value == "a0")
    let third = Task { try await fixture.token().text() }
    try await Task.sleep(for: .milliseconds(50))
    #expect(fixture.requests == ["r0", "r0"])
    doors[1].open()

    // The server has issued the later tokens for a token that was spent: the first to be stored stay.
    #expect(try await holder.value == "a0")
    third.cancel()
    _ = await third.result
    #expect(try fixture.storedRefreshToken() == "new")
  }

  // MARK: Recursion

  @Test(arguments: [false, true]) func `a closure that needs the token that it refreshes throws at once`(
    hasOwnObject: Bool
  ) async throws {
    let fixture = TokenFixture()
    let itself = OneToken()
    let token = try fixture.token {
      _ = try await itself.token?.accessToken()
      return try fixture.issue(for: $0)
    }
    itself.token = hasOwnObject ? try fixture.token() : token
    try await token.set(fixture.tokens(0, lifetime: -1))

    #expect(try await token.failure() == .recursive)
    #expect(fixture.requests == [])
    itself.token = nil
  }

  @Test func `a closure gets the token that it refreshes while it is valid`() async throws {
    let fixture = TokenFixture()
    let itself = OneToken()
    let token = try fixture.token {
      #expect(try await itself.token?.text() == "a0")
      return try fixture.issue(for: $0)
    }
    itself.token = token
    try await token.set(fixture.tokens(0))
    fixture.jump(by: TokenFixture.lifetime - 30)

    #expect(try await token.text() == "a1")
    itself.token = nil
  }

  @Test func `two closures that need each other's token throw at once`() async throws {
    let fixture = TokenFixture()
    let other = OneToken()
    let first = RefreshingToken("first", in: try fixture.store, options: fixture.options()) {
      _ = try await other.token?.accessToken()
      return try fixture.issue(for: $0)
    }
    let second = RefreshingToken("second", in: try fixture.store, options: fixture.options()) {
      _ = try await first.accessToken()
      return try fixture.issue(for: $0)
    }
    other.token = second
    for token in [first, second] { try await token.set(fixture.tokens(0, lifetime: -1)) }

    #expect(try await first.failure() == .recursive)
    #expect(fixture.requests == [])
    other.token = nil
  }
}

/// The token that a closure uses, which exists only after the closure.
private final class OneToken: @unchecked Sendable {
  // Unchecked: set before and after the refresh.
  var token: RefreshingToken?
}
