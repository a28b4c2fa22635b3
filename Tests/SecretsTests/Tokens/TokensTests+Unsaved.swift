import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// Tokens that cannot be stored: the vault is locked, or another process has its lock.
extension TokensTests {
  @Test func `a locked vault is an error, and new tokens are stored after it is unlocked`() async throws {
    let fixture = TokenFixture()
    let vault = fixture.throwaway.vault
    let door = Door()
    let token = fixture.token(in: try fixture.store, waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))
    let caller = Task { try await token.accessToken() }
    try await door.isReached()

    vault.lock()
    door.open()

    for call in [caller, Task { try await token.accessToken() }] {
      do {
        _ = try await call.value
        Issue.record("a locked vault has returned a token")
      } catch let error as VaultError { #expect(error.code == .locked) }
    }
    try await vault.unlock(with: .key(fixture.throwaway.key))
    #expect(try await token.text() == "a1")
    #expect(fixture.requests == ["r0"])
    #expect(try await fixture.token().text() == "a1")
  }

  @Test func `tokens that could not be stored are stored by the next call, though the old one is valid`() async throws {
    let fixture = TokenFixture()
    let vault = fixture.throwaway.vault
    let door = Door()
    let token = fixture.token(in: try fixture.store, waitingAt: door)
    try await token.set(fixture.tokens(0))
    let refused = try await token.accessToken()
    let caller = Task { try await token.accessToken(replacing: refused) }
    try await door.isReached()
    vault.lock()
    door.open()
    await #expect(throws: VaultError.self) { try await caller.value }
    try await vault.unlock(with: .key(fixture.throwaway.key))

    #expect(try await token.text() == "a1")
    #expect(fixture.requests == ["r0"])
    #expect(try await fixture.token().text() == "a1")
  }

  @Test func `a vault that cannot be written fails no call whose token is still valid`() async throws {
    let fixture = TokenFixture()
    let token = try fixture.tokenWithoutPatience()
    try await token.set(fixture.tokens(0))
    fixture.jump(by: TokenFixture.lifetime - 30)

    try await fixture.whileLocked { () async throws in
      #expect(try await token.text() == "a0")
      fixture.jump(by: 30)
      await #expect(throws: VaultError.self) { try await token.text() }
    }
    #expect(fixture.requests == [])
    #expect(try await token.text() == "a1")
  }

  @Test func `tokens that cannot be stored are returned instead of those that were spent for them`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let token = try fixture.tokenWithoutPatience(waitingAt: door)
    try await token.set(fixture.tokens(0))
    let caller = Task { try await token.text(replacing: "a0") }
    try await door.isReached()

    try await fixture.whileLocked { () async throws in
      door.open()
      await #expect(throws: VaultError.self) { try await caller.value }
      #expect(try await token.text() == "a1")
      await #expect(throws: VaultError.self) { try await token.text(replacing: "a1") }
    }
    #expect(try await token.text() == "a1")
    #expect(fixture.requests == ["r0"])
    #expect(try await fixture.token().text() == "a1")
  }

  @Test func `tokens that are due when they can be stored at last are refreshed, and not returned`() async throws {
    let fixture = TokenFixture()
    let door = Door()
    let lock = try FileHandle(forReadingFrom: URL(filePath: fixture.throwaway.path))
    let releases = Mutex(false)
    // Between the attempt to store the tokens and the refresh, the token reads the time.
    let options = fixture.options { options in
      options.now = {
        if releases.withLock({ $0 }) { flock(lock.fileDescriptor, LOCK_UN) }
        return fixture.date
      }
    }
    let token = try fixture.tokenWithoutPatience(options, waitingAt: door)
    try await token.set(fixture.tokens(0))
    let caller = Task { try await token.text(replacing: "a0") }
    try await door.isReached()
    try #require(flock(lock.fileDescriptor, LOCK_EX) == 0)
    door.open()
    await #expect(throws: VaultError.self) { try await caller.value }

    fixture.jump(by: TokenFixture.lifetime - 30)
    releases.withLock { $0 = true }
    #expect(try await token.text() == "a2")
    #expect(fixture.requests == ["r0", "r1"])
  }
}
