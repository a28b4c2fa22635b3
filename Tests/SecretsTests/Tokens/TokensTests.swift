import Foundation
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// Tokens of one process, and their record.
@Suite(.throwawayVault) struct TokensTests {}

extension TokensTests {
  @Test func `a valid token is returned without a refresh`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(fixture.tokens(0))

    #expect(try await token.text() == "a0")
    fixture.jump(by: TokenFixture.lifetime - 61)
    #expect(try await token.text() == "a0")
    #expect(fixture.requests == [])
  }

  @Test func `an expired token is refreshed once for all tasks, and the next time with the new refresh token`()
    async throws
  {
    let fixture = TokenFixture()
    let door = Door()
    let token = try fixture.token(waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))

    let first = (0..<64).map { _ in Task { try await token.text() } }
    try await door.isReached()
    door.open()
    for task in first { #expect(try await task.value == "a1") }
    #expect(fixture.requests == ["r0"])
    fixture.jump(by: TokenFixture.lifetime)

    #expect(try await token.text() == "a2")
    #expect(fixture.requests == ["r0", "r1"])
  }

  @Test func `without a new refresh token the present one is kept`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token {
      var tokens = try fixture.issue(for: $0)
      tokens.refresh = nil
      return tokens
    }
    try await token.set(fixture.tokens(0, lifetime: -1))

    #expect(try await token.text() == "a1")
    fixture.jump(by: TokenFixture.lifetime)
    #expect(try await token.text() == "a2")
    #expect(fixture.requests == ["r0", "r0"])
  }

  @Test func `shortly before the expiry one caller refreshes, and the others get the present token`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let token = try fixture.token(waitingAt: door)
    let elsewhere = try fixture.token()
    try await token.set(fixture.tokens(0))
    fixture.jump(by: TokenFixture.lifetime - 30)

    let first = Task { try await token.text() }
    try await door.isReached()
    #expect(try await token.text() == "a0")
    #expect(try await elsewhere.text() == "a0")
    door.open()

    #expect(try await first.value == "a1")
    #expect(try await elsewhere.text() == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `a refresh that fails shortly before the expiry returns the present token, and is not repeated at once`()
    async throws
  {
    let fixture = TokenFixture()
    let token = try fixture.token {
      _ = try fixture.issue(for: $0)
      throw CocoaError(.featureUnsupported)
    }
    try await token.set(fixture.tokens(0))
    fixture.jump(by: TokenFixture.lifetime - 30)

    for _ in 0..<3 { #expect(try await token.text() == "a0") }
    #expect(fixture.requests == ["r0"])
    fixture.jump(by: 2)
    #expect(try await token.text() == "a0")
    #expect(fixture.requests == ["r0", "r0"])
    fixture.jump(by: 30)
    #expect(try await token.failure() == .failed)
  }

  @Test func `without a refresh token the access token is valid until it expires`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(.init(access: "a0", expires: fixture.date + TokenFixture.lifetime))
    fixture.jump(by: TokenFixture.lifetime - 30)

    for _ in 0..<3 { #expect(try await token.text() == "a0") }
    fixture.jump(by: 30)
    #expect(try await token.failure() == .signedOut)
    #expect(fixture.requests == [])
  }

  @Test func `a token with a lifetime below the margin is not refreshed at each call`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(fixture.tokens(0, lifetime: 20))

    #expect(try await token.text() == "a0")
    fixture.jump(by: 9)
    #expect(try await token.text() == "a0")
    fixture.jump(by: 2)
    #expect(try await token.text() == "a1")
  }

  @Test func `a token that a server refused is refreshed before its expiry, and once`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(fixture.tokens(0))

    #expect(try await token.text(replacing: "a0") == "a1")
    #expect(try await token.text(replacing: "a0") == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `a cancelled caller throws at once, and the refresh goes on without callers`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let token = try fixture.token {
      await door.pass()
      try Task.checkCancellation()
      return try fixture.issue(for: $0)
    }
    try await token.set(fixture.tokens(0, lifetime: -1))

    let callers = (0..<3).map { _ in Task { try await token.text() } }
    try await door.isReached()
    for caller in callers {
      caller.cancel()
      await #expect(throws: CancellationError.self) { try await caller.value }
    }
    door.open()

    #expect(try await token.text() == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `a token that was never stored, or cannot be refreshed, is signed out`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()

    #expect(try await token.failure() == .signedOut)
    try await token.set(.init(access: "a0", expires: fixture.date + 1))
    #expect(try await token.text() == "a0")
    fixture.jump(by: 1)
    #expect(try await token.failure() == .signedOut)
    #expect(fixture.requests == [])
  }

  @Test func `the state is that of the stored tokens, and nothing is refreshed for it`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()

    #expect(try token.state() == nil)
    try await token.set(fixture.tokens(0, lifetime: -1))
    #expect(try token.state()?.expires == fixture.date - 1)
    #expect(try token.state()?.isRefreshable == true)
    try await token.set(.init(access: "a0", expires: .distantFuture))
    #expect(try token.state()?.expires == .distantFuture)
    #expect(try token.state()?.isRefreshable == false)
    #expect(try token.state()?.failure == nil)
    #expect(fixture.requests == [])
  }

  @Test func `removed tokens are returned, and can be removed once`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(fixture.tokens(0, lifetime: -1))

    let removed = try #require(try await token.remove())

    #expect(try removed.access == Secret("a0"))
    #expect(try removed.refresh == Secret("r0"))
    #expect(removed.expires == fixture.date - 1)
    #expect(try fixture.store.keys() == [])
    #expect(try await token.remove() == nil)
  }

  /// Signs out while a refresh by `call` waits at the door, and returns when the record is removed.
  private func signingOut<Outcome: Sendable>(
    _ fixture: TokenFixture, _ door: Door, during call: @escaping @Sendable (RefreshingToken) async throws -> Outcome
  ) async throws -> (
    token: RefreshingToken, caller: Task<Outcome, any Error>, signOut: Task<RefreshingToken.Tokens?, any Error>
  ) {
    let token = try fixture.token(waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))
    let caller = Task { try await call(token) }
    try await door.isReached()
    let signOut = Task { try await token.remove() }
    while try !fixture.store.keys().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    return (token, caller, signOut)
  }

  @Test func `signing out during a refresh returns the tokens that the server issues, and stores none`() async throws {
    let (fixture, door) = (TokenFixture(), Door())
    let (token, caller, signOut) = try await signingOut(fixture, door) { try await $0.failure() }
    door.open()

    let removed = try #require(try await signOut.value)
    #expect(try removed.access == Secret("a1"))
    #expect(try removed.refresh == Secret("r1"))
    #expect(try await caller.value == .signedOut)
    #expect(token.unsavedTokens == nil)
    #expect(try fixture.store.keys() == [])
  }

  @Test func `signing out and in again during a refresh returns the tokens that the server issues`() async throws {
    let (fixture, door) = (TokenFixture(), Door())
    let (token, caller, signOut) = try await signingOut(fixture, door) { try await $0.text() }
    try await token.set(fixture.tokens(7))
    door.open()

    let removed = try #require(try await signOut.value)
    #expect(try removed.refresh == Secret("r1"))
    #expect(try await caller.value == "a7")
    #expect(try await token.text() == "a7")
    #expect(token.unsavedTokens == nil)
  }

  @Test func `signing out waits for a refresh no longer than a lease`() async throws {
    let (fixture, door) = (TokenFixture(), Door())
    let (token, caller, signOut) = try await signingOut(fixture, door) { try await $0.text() }
    // The refresh goes on, with a second lease for these.
    try await token.set(fixture.tokens(7, lifetime: -1))
    let removed = try await fixture.clock.run(until: TokenFixture.lease * 3 / 2) { try await signOut.value }
    door.open()

    #expect(try removed?.refresh == Secret("r0"))
    _ = try await caller.value
  }

  @Test func `a refresh that signs out does not wait for itself`() async throws {
    let fixture = TokenFixture()
    let own = Mutex<RefreshingToken?>(nil)
    let token = try fixture.token { _ in
      try await own.withLock { $0 }?.remove()
      throw RefreshFailure(.rejected)
    }
    own.withLock { $0 = token }
    try await token.set(fixture.tokens(0, lifetime: -1))

    #expect(try await token.failure() == .signedOut)

    #expect(try fixture.store.keys() == [])
    own.withLock { $0 = nil }
  }

  @Test func `a sign-in during a refresh wins`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let token = try fixture.token(waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))
    let caller = Task { try await token.text() }
    try await door.isReached()

    try await token.set(fixture.tokens(7))
    door.open()

    #expect(try await caller.value == "a7")
    #expect(try await token.text() == "a7")
  }

  @Test func `label and attributes of the record survive sign-in, lease and refresh`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    try await token.set(fixture.tokens(0, lifetime: -1))
    let (vault, service, group) = (fixture.throwaway.vault, try Vault.Name("shop"), try fixture.throwaway.vault.group())
    var edit = RecordEdit()
    edit.label = .set("GitHub")
    edit.attributes = .set([try RecordEdit.Attribute("owner", [1, 2])])
    try await vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      try batch.edit("github", edit)
    }

    #expect(try await token.text() == "a1")

    let record = try #require(try vault.record(service: service, key: "github", in: group))
    #expect(record.label == "GitHub")
    #expect(record.attributes == [try RecordEdit.Attribute("owner", [1, 2])])
    try await token.set(fixture.tokens(5))
    #expect(try vault.record(service: service, key: "github", in: group)?.label == "GitHub")
  }

  @Test func `nothing is kept of spent tokens, although the store keeps replaced values`() async throws {
    let fixture = TokenFixture()
    let store = try SecretPreferences(service: "shop", keeping: .forPeople, in: fixture.throwaway.reopened())
    let token = RefreshingToken("github", in: store, options: fixture.options()) { try fixture.issue(for: $0) }
    try await token.set(fixture.tokens(0, lifetime: -1))
    #expect(try await token.text() == "a1")
    let record = try store.vault.record(service: Vault.Name("shop"), key: "github", in: store.vault.group())
    #expect(record?.previous.isEmpty == true)

    try await token.remove()
    #expect(try store.removedSecrets().isEmpty)
  }

  @Test func `nothing is kept of spent tokens, although their record keeps replaced values`() async throws {
    let fixture = TokenFixture()
    let store = try SecretPreferences(service: "shop", keeping: .forPeople, in: fixture.throwaway.reopened())
    try await store.set("by hand", forKey: "github")
    let token = RefreshingToken("github", in: store, options: fixture.options()) { try fixture.issue(for: $0) }
    try await token.set(fixture.tokens(0, lifetime: -1))
    #expect(try await token.text() == "a1")
    let record = try store.vault.record(service: Vault.Name("shop"), key: "github", in: store.vault.group())
    #expect(record?.previous.isEmpty == true)
    #expect(record?.historyDepth == 3)

    try await token.remove()
    #expect(try store.removedSecrets().isEmpty)
  }

  @Test func `the record is JSON that other programs can write and read`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()
    let odd = #"q"\/é~"#
    try await token.set(.init(access: odd, refresh: "r", expires: TokenFixture.start + 60))

    #expect(try await token.text() == odd)
    #expect(
      try fixture.store.value(forKey: "github")
        == ["access": .string(odd), "expires": 1_750_000_060_000, "issued": 1_750_000_000_000, "refresh": "r"])
    let (service, group) = (try Vault.Name("shop"), try fixture.throwaway.vault.group())
    let foreign = #" { "refresh" : "x\u003cy" ,"expires":1, "scope" : "all" , "access":"a\/b\"" } "#
    let bytes = Array(foreign.utf8)
    try await fixture.throwaway.vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      try batch.set(bytes.span.bytes, kind: .json, forKey: "github")
    }
    #expect(try await token.text() == "a1")
    #expect(fixture.requests == ["x<y"])
  }

  @Test(arguments: [
    "{}", "[]", "", #"{"access":"a"}"#, #"{"access":"a","expires":"1"}"#, #"{"access":"a","expires":1} x"#,
    #"{"access":"a","expires":1"#, #"{"access":"a\n","expires":9999999999999}"#, #"{"access":"a\"#,
    #"{"access":["a"],"expires":1}"#, #"{"access":"\u0007","expires":9999999999999}"#, #"{"access":"\u00"#,
    #"{"access":"\u0","expires":9999999999999}"#, #"{"access":"a","expires":99999999999999999999}"#,
  ])
  func `a record that holds no tokens is a typeMismatch`(json: String) async throws {
    let fixture = TokenFixture()
    let bytes = Array(json.utf8)
    let (service, group) = (try Vault.Name("shop"), try fixture.throwaway.vault.group())
    try await fixture.throwaway.vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      try batch.set(bytes.span.bytes, kind: .json, forKey: "github")
    }

    let error = try await #require(throws: VaultError.self) { try await fixture.token().accessToken() }
    #expect(error.code == .typeMismatch)
    #expect(fixture.requests == [])
  }

  @Test(arguments: ["", "a\n", "\u{0}"]) func `a token with a control character is refused`(text: String) async throws {
    let fixture = TokenFixture()
    let token = try fixture.token()

    let error = try await #require(throws: VaultError.self) {
      try await token.set(.init(access: text, refresh: "r", expires: fixture.date))
    }
    #expect(error.code == .typeMismatch)
    #expect(try fixture.store.keys() == [])
  }

  @Test func `nothing that is printed shows a token, a key or a cause`() async throws {
    struct Leak: Error { let text = "SENTINEL-5f3a" }
    let fixture = TokenFixture()
    let tokens = try RefreshingToken.Tokens(
      access: "SENTINEL-5f3a", refresh: "SENTINEL-5f3a", expires: fixture.date - 1)
    let token = RefreshingToken("key SENTINEL-5f3a", in: try fixture.store, options: fixture.options()) { _ in
      throw Leak()
    }
    try await token.set(tokens)
    let failure = try await #require(throws: RefreshFailure.self) { try await token.accessToken() }

    #expect(failure.cause is Leak)
    for value in [token, tokens, failure, RefreshFailure(.rejected, cause: failure)] as [Any] {
      #expect(traces(of: "SENTINEL-5f3a", in: value) == [])
    }
    #expect("\(failure) \(failure.localizedDescription)".contains("failed"))
    #expect(traces(of: "SENTINEL-5f3a", in: failure.localizedDescription) == [])
  }
}
