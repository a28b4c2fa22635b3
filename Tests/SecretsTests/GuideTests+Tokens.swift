import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// What a program has without `RefreshingToken`.
private enum ByHand {
  struct SignedOut: Error {}

  struct NewTokens {
    let access, refresh: String
    let expires: Date
  }

  actor AccessToken {
    private let keychain: Keychain
    private let refresh: @Sendable (String) async throws -> NewTokens
    private var refreshing: Task<String, any Error>?

    init(in keychain: Keychain, refresh: @escaping @Sendable (String) async throws -> NewTokens) {
      self.keychain = keychain
      self.refresh = refresh
    }

    func value() async throws -> String {
      if let refreshing { return try await refreshing.value }
      if let text = try keychain.get("expires"), let expires = Double(text),
        expires > Date().timeIntervalSince1970 + 60,
        let access = try keychain.get("access")
      {
        return access
      }
      let task = Task {
        defer { refreshing = nil }
        guard let old = try keychain.get("refresh") else { throw SignedOut() }
        let new = try await refresh(old)
        try store(new)
        return new.access
      }
      refreshing = task
      return try await task.value
    }

    private func store(_ new: NewTokens) throws {
      try keychain.set(new.access, key: "access")
      try keychain.set(new.refresh, key: "refresh")
      try keychain.set("\(new.expires.timeIntervalSince1970)", key: "expires")
    }
  }
}

/// A token server that accepts each refresh token once.
private final class TokenServer: Sendable {
  struct Reused: Error {}
  private let spent = Mutex<[String]>([])
  let door = Door()

  var requests: [String] { spent.withLock { $0 } }

  private func spend(_ refreshToken: String) throws -> Int {
    try spent.withLock { spent in
      defer { spent.append(refreshToken) }
      guard !spent.contains(refreshToken) else { throw Reused() }
      return spent.count + 1
    }
  }

  func refresh(_ refreshToken: String) async throws -> ByHand.NewTokens {
    await door.pass()
    let number = try spend(refreshToken)
    return ByHand.NewTokens(access: "a\(number)", refresh: "r\(number)", expires: Date(timeIntervalSinceNow: 3600))
  }

  func refresh(_ refreshToken: Secret<String>) async throws -> RefreshingToken.Tokens {
    let new: ByHand.NewTokens = try await refresh(try refreshToken.withValue { $0 })
    return try RefreshingToken.Tokens(access: new.access, refresh: new.refresh, expires: new.expires)
  }
}

/// The code of RefreshingAccessTokens.md, word for word: Scripts/documents guide compares the two.
extension GuideTests {
  @Test func `tokens: an expired token is refreshed, and stored before it is returned`()
    async throws
  {
    let tokens = try ThrowawayVault.current.preferences()
    let server = TokenServer()
    server.door.open()
    let expires = Date(timeIntervalSinceNow: -1)

    let session = RefreshingToken("session", in: tokens) { refreshToken in
      // Throws RefreshFailure(.rejected) if the server refuses the refresh token.
      try await server.refresh(refreshToken)
    }

    try await session.set(RefreshingToken.Tokens(access: "a0", refresh: "r0", expires: expires))  // after the sign-in
    let access = try await session.accessToken()  // refreshed in time, and stored before it returns

    #expect(try access.withValue { $0 } == "a1")
    #expect(server.requests == ["r0"])
    #expect(try await session.accessToken() == access)
    #expect(try await session.accessToken(replacing: access).withValue { $0 } == "a2")
    #expect(server.requests == ["r0", "r1"])
  }

  @Test func `the tokens of many users are one object`() async throws {
    let tokens = try ThrowawayVault.current.preferences()
    let server = TokenServer()
    server.door.open()

    let sessions = RefreshingTokens(in: tokens) { refreshToken, user in try await server.refresh(refreshToken) }

    try await sessions["ada"].set(.init(access: "a0", refresh: "r0", expires: Date(timeIntervalSinceNow: -1)))
    let access = try await sessions["ada"].accessToken()

    #expect(try access.withValue { $0 } == "a1")
    #expect(server.requests == ["r0"])
  }

  private func keychain() throws -> Keychain {
    try Keychain(service: "com.example.shop", in: ThrowawayVault.current.reopened())
  }

  private func signIn() throws {
    let keychain = try keychain()
    try keychain.set("a0", key: "access")
    try keychain.set("r0", key: "refresh")
    try keychain.set("0", key: "expires")
  }

  @Test func `tokens: the actor refreshes once for all tasks of a process`() async throws {
    try signIn()
    let server = TokenServer()
    let token = ByHand.AccessToken(in: try keychain()) { try await server.refresh($0) }

    let tasks = (0..<8).map { _ in Task { try await token.value() } }
    try await server.door.isReached()
    server.door.open()

    for task in tasks { #expect(try await task.value == "a1") }
    #expect(try await token.value() == "a1")
    #expect(server.requests == ["r0"])
  }

  @Test func `tokens: two processes with the actor spend the same refresh token`()
    async throws
  {
    try signIn()
    let server = TokenServer()
    let processes = try (0..<2).map { _ in ByHand.AccessToken(in: try keychain()) { try await server.refresh($0) } }

    let tasks = processes.map { process in Task { try await process.value() } }
    try await server.door.isReached(by: 2)
    server.door.open()

    var failures = 0
    for task in tasks {
      do { _ = try await task.value } catch is TokenServer.Reused { failures += 1 }
    }
    #expect(failures == 1)
    #expect(server.requests == ["r0", "r0"])
  }

  @Test func `expiry: by hand it is part of the value`() throws {
    let keychain = try keychain()
    let expires = Date(timeIntervalSinceNow: 60)
    struct ExpiringToken: Codable { var value: String, expires: Date }

    try keychain.set(JSONEncoder().encode(ExpiringToken(value: "glpat_new", expires: expires)), key: "gitlab")
    let stored = try keychain.getData("gitlab").map { try JSONDecoder().decode(ExpiringToken.self, from: $0) }
    let gitlab = stored.flatMap { $0.expires > Date() ? $0.value : nil }

    #expect(gitlab == "glpat_new")
  }

  @Test func `expiry: it is metadata, and an option refuses an expired value`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    let expires = Date(timeIntervalSinceNow: -1)

    try tokens.set("glpat_new", forKey: "gitlab", expires: expires)
    let info = try tokens.info(forKey: "gitlab")
    if info?.isExpired == true { print("renew the token") }

    #expect(info?.isExpired == true)
    #expect(try tokens.string(forKey: "gitlab") == "glpat_new")
    var options = Vault.Options()
    options.expiredRecords = .refuse
    let strict = try SecretPreferences(
      service: tokens.service, in: ThrowawayVault.current.reopened(options: options))
    #expect(code { try strict.string(forKey: "gitlab") } == .expired)
    try tokens.set("glpat_newer", forKey: "gitlab")
    #expect(try tokens.info(forKey: "gitlab")?.expires == nil)
  }
}
