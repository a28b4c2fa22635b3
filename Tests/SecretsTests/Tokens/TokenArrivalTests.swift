import Foundation
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// What a server has issued is stored, whatever it is, and kept if it cannot be stored.
@Suite(.throwawayVault) struct TokenArrivalTests {}

extension TokenArrivalTests {
  /// A token whose first refresh answers with `access` and `refresh`, and later ones as the fixture does.
  private static func token(
    _ fixture: TokenFixture, first access: String, _ refresh: String?, expires: Date? = nil
  ) throws -> RefreshingToken {
    try fixture.token {
      let tokens = try fixture.issue(for: $0)
      guard fixture.requests.count == 1 else { return tokens }
      return try .init(access: access, refresh: refresh, expires: expires ?? tokens.expires)
    }
  }

  @Test(arguments: ["", "a1\n", "\u{0}", "a\u{7F}", "long"])
  func `an access token that cannot be used does not lose the refresh token that came with it`(
    access: String
  ) async throws {
    let fixture = TokenFixture()
    let code = access == "long" ? VaultError.Code.valueTooLarge : .typeMismatch
    let token = try Self.token(fixture, first: access == "long" ? String(repeating: "a", count: 1 << 20) : access, "r1")
    let other = try fixture.token()
    try await token.set(fixture.tokens(0, lifetime: -1))

    let failure = try await token.thrown()
    #expect(failure.code == .failed)
    #expect((failure.cause as? VaultError)?.code == code)
    #expect(try fixture.storedRefreshToken() == "r1")
    for token in [token, other] { #expect(try await token.failure() == .failed) }
    #expect(fixture.requests == ["r0"])

    fixture.jump(by: 1)
    #expect(try await other.text() == "a2")
    #expect(try await token.text() == "a2")
    #expect(fixture.requests == ["r0", "r1"])
  }

  @Test func `callers that wait get the failure of an access token that cannot be used, and send nothing`() async throws
  {
    let fixture = TokenFixture()
    let door = Door()
    let first = try fixture.token {
      await door.pass()
      _ = try fixture.issue(for: $0)
      return try .init(access: "a\n", refresh: "r1", expires: .distantFuture)
    }
    let second = try fixture.token()
    try await first.set(fixture.tokens(0, lifetime: -1))
    let calls = (0..<4).map { _ in Task { try await first.failure() } }
    try await door.isReached()
    let waiting = Task { try await second.failure() }
    try await fixture.clock.sleep(of: 2)
    door.open()

    for call in calls { #expect(try await call.value == .failed) }
    #expect(try await fixture.clock.run(until: .seconds(1)) { try await waiting.value } == .failed)
    #expect(fixture.requests == ["r0"])
  }

  @Test(arguments: ["r\n1", "\u{0}\u{1}\u{1F}\"\\", "\u{7F}é\u{2028}", "long"])
  func `a refresh token is stored and sent as it arrived`(text: String) async throws {
    let fixture = TokenFixture()
    let refresh = text == "long" ? String(repeating: "\u{1}", count: 100_000) : text
    let token = try Self.token(fixture, first: "a1", refresh)
    try await token.set(fixture.tokens(0, lifetime: -1))

    #expect(try await token.text() == "a1")
    #expect(try fixture.storedRefreshToken() == refresh)
    fixture.jump(by: TokenFixture.lifetime)
    #expect(try await token.text() == "a2")
    #expect(fixture.requests == ["r0", refresh])
  }

  @Test func `an empty refresh token keeps the previous one`() async throws {
    let fixture = TokenFixture()
    let token = try Self.token(fixture, first: "a1", "")
    try await token.set(fixture.tokens(0, lifetime: -1))

    #expect(try await token.text() == "a1")
    #expect(try fixture.storedRefreshToken() == "r0")
  }

  @Test func `a sign-in with an empty refresh token cannot be refreshed`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(.init(access: "a0", refresh: "", expires: fixture.date + 1))

    #expect(try await token.text() == "a0")
    #expect(try token.state()?.isRefreshable == false)
  }

  @Test func `a refused sign-in leaves the previous tokens`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(fixture.tokens(0))

    for tokens in [("a\n", "r9"), ("a9", "r\n"), ("", "r9")] {
      let error = try await #require(throws: VaultError.self) {
        try await token.set(.init(access: tokens.0, refresh: tokens.1, expires: .distantFuture))
      }
      #expect(error.code == .typeMismatch)
    }
    #expect(try await token.text() == "a0")
    #expect(try fixture.storedRefreshToken() == "r0")
  }

  @Test func `tokens that no record can hold stay in memory, where the program finds them`() async throws {
    let fixture = TokenFixture()
    let long = String(repeating: "r", count: 1 << 20)
    let token = try Self.token(fixture, first: "a1", long)
    try await token.set(fixture.tokens(0))

    let error = try await #require(throws: VaultError.self) { try await token.text(replacing: "a0") }
    #expect(error.code == .valueTooLarge)
    let kept = try #require(token.unsavedTokens)
    #expect(try kept.access == Secret("a1"))
    #expect(try kept.refresh == Secret(long))
    #expect(try await token.text() == "a1")
    #expect(fixture.requests == ["r0"])
    try await token.set(fixture.tokens(7))
    #expect(token.unsavedTokens == nil)
  }

  @Test func `tokens that wait for the vault's lock can be read, and are stored by the next call`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let token = try fixture.tokenWithoutPatience(waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))
    let caller = Task { try await token.text() }
    try await door.isReached()

    try await fixture.whileLocked { () async throws in
      door.open()
      let error = try await #require(throws: VaultError.self) { try await caller.value }
      #expect(error.code == .lockTimeout)
      #expect(try token.unsavedTokens?.refresh == Secret("r1"))
    }

    #expect(try await token.text() == "a1")
    #expect(token.unsavedTokens == nil)
    #expect(try fixture.storedRefreshToken() == "r1")
  }

  @Test func `signing out returns the tokens that could not be stored, because the server knows no others`()
    async throws
  {
    let fixture = TokenFixture()
    let door = Door()
    let token = try fixture.tokenWithoutPatience(waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))
    let caller = Task { try await token.text() }
    try await door.isReached()
    try await fixture.whileLocked { () async throws in
      door.open()
      await #expect(throws: VaultError.self) { try await caller.value }
    }

    let removed = try #require(try await token.remove())
    #expect(try removed.access == Secret("a1"))
    #expect(try removed.refresh == Secret("r1"))
    #expect(token.unsavedTokens == nil)
    #expect(try fixture.store.keys() == [])
  }

  // MARK: Expired on arrival

  @Test func `ten calls after the server has issued an expired token send one request`() async throws {
    let fixture = TokenFixture()
    let token = try Self.token(fixture, first: "a1", "r1", expires: fixture.date - 3600)
    let other = try fixture.token()
    try await token.set(fixture.tokens(0, lifetime: -1))

    for _ in 0..<10 { #expect(try await token.text() == "a1") }
    #expect(try await other.text() == "a1")
    #expect(fixture.requests == ["r0"])
    await #expect(throws: RefreshFailure.self) { try await token.text(replacing: "a1") }
    #expect(fixture.requests == ["r0"])

    fixture.jump(by: 1)
    #expect(try await token.text() == "a2")
    #expect(fixture.requests == ["r0", "r1"])
  }

  @Test func `processes that wait get a token that has expired on arrival, and send nothing`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let first = try fixture.token {
      await door.pass()
      _ = try fixture.issue(for: $0)
      return try .init(access: "a1", refresh: "r1", expires: fixture.date - 1)
    }
    let second = try fixture.token()
    try await first.set(fixture.tokens(0, lifetime: -1))
    let holder = Task { try await first.text() }
    try await door.isReached()
    let waiting = Task { try await second.text() }
    try await fixture.clock.sleep(of: 2)
    door.open()

    #expect(try await holder.value == "a1")
    #expect(try await fixture.clock.run(until: .seconds(1)) { try await waiting.value } == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `a sign-in ends the pause after a token that had expired on arrival`() async throws {
    let fixture = TokenFixture()
    let token = try Self.token(fixture, first: "a1", "r1", expires: fixture.date - 1)
    try await token.set(fixture.tokens(0, lifetime: -1))
    #expect(try await token.text() == "a1")

    try await token.set(fixture.tokens(7))
    #expect(try await token.text() == "a7")
  }

  @Test(arguments: [-Double.infinity, -1e300, 0, 1e300, .infinity, .nan])
  func `any expiry that a server sends is stored`(seconds: Double) async throws {
    let fixture = TokenFixture()
    let token = try Self.token(fixture, first: "a1", "r1", expires: Date(timeIntervalSince1970: seconds))
    try await token.set(fixture.tokens(0, lifetime: -1))

    #expect(try await token.text() == "a1")
    #expect(try fixture.storedRefreshToken() == "r1")
  }
}
