import Foundation
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// A token server in memory, the time, and what the processes of a test share.
final class TokenFixture: Sendable {
  static let start = Date(timeIntervalSince1970: 1_750_000_000)
  static let lease = Duration.seconds(10)
  static let lifetime: TimeInterval = 3600

  let throwaway = ThrowawayVault.current
  let clock = TestClock()
  private let jump = Mutex<TimeInterval>(0)
  private let spent = Mutex<[String]>([])

  /// The refresh tokens that the server has received.
  var requests: [String] { spent.withLock { $0 } }

  var date: Date {
    Self.start + clock.now.sinceStart / .seconds(1) + jump.withLock { $0 }
  }

  /// Sets the system's clock, but not the one that waits use.
  func jump(by interval: TimeInterval) { jump.withLock { $0 += interval } }

  /// Receives a refresh token and issues the tokens `a1` and `r1`, then `a2` and `r2`, and so on.
  func issue(for refreshToken: Secret<String>) throws -> RefreshingToken.Tokens {
    let text = try refreshToken.withValue { $0 }
    let count = spent.withLock { spent in
      spent.append(text)
      return spent.count
    }
    return try tokens(count)
  }

  func tokens(_ number: Int, lifetime: TimeInterval = TokenFixture.lifetime) throws -> RefreshingToken.Tokens {
    try RefreshingToken.Tokens(access: "a\(number)", refresh: "r\(number)", expires: date + lifetime)
  }

  func options(_ change: (inout RefreshingToken.Options) -> Void = { _ in }) -> RefreshingToken.Options {
    var options = RefreshingToken.Options()
    (options.clock, options.lease) = (clock, Self.lease)
    options.now = { self.date }
    change(&options)
    return options
  }

  /// A token as another process has it: over a handle of its own.
  func token(
    _ options: RefreshingToken.Options? = nil,
    _ refresh: (@Sendable (Secret<String>) async throws -> RefreshingToken.Tokens)? = nil
  ) throws -> RefreshingToken {
    RefreshingToken(
      "github", in: try SecretPreferences(service: "shop", in: throwaway.reopened()),
      options: options ?? self.options(),
      refresh: refresh ?? { try self.issue(for: $0) })
  }

  /// A token as another process has it, whose refresh waits at `door`.
  func token(waitingAt door: Door) throws -> RefreshingToken {
    try token {
      await door.pass()
      return try self.issue(for: $0)
    }
  }

  /// A token whose writes do not wait for the vault's lock, and whose refresh waits at `door`.
  func tokenWithoutPatience(
    _ options: RefreshingToken.Options? = nil, waitingAt door: Door? = nil
  ) throws -> RefreshingToken {
    var vault = Vault.Options()
    vault.lockTimeout = .zero
    let store = try SecretPreferences(service: "shop", in: throwaway.reopened(options: vault))
    return token(in: store, options, waitingAt: door)
  }

  /// A token over `store`, whose refresh waits at `door`.
  func token(
    in store: some PreferencesStore, _ options: RefreshingToken.Options? = nil, waitingAt door: Door? = nil
  ) -> RefreshingToken {
    RefreshingToken("github", in: store, options: options ?? self.options()) {
      await door?.pass()
      return try self.issue(for: $0)
    }
  }

  /// Expects that `first` sends the refresh token, and that `second`, which is asked meanwhile, gets the new token.
  func expectOneRefresh(
    of first: RefreshingToken, waitingAt door: Door, beside second: RefreshingToken, meanwhile: () throws -> Void = {}
  ) async throws {
    let call = Task { try await first.text() }
    try await door.isReached()
    try meanwhile()
    let waiting = Task { try await second.text() }
    try await clock.sleep(of: 2)
    door.open()

    #expect(try await call.value == "a1")
    #expect(try await clock.run(until: .seconds(1)) { try await waiting.value } == "a1")
    #expect(requests == ["r0"])
  }

  /// Calls `body` while another process has the vault's lock: writes fail, and reads do not.
  func whileLocked<R>(_ body: () async throws -> R) async throws -> R {
    let file = try FileHandle(forReadingFrom: URL(filePath: throwaway.path))
    try #require(flock(file.fileDescriptor, LOCK_EX) == 0)
    defer { flock(file.fileDescriptor, LOCK_UN) }
    return try await body()
  }

  /// Waits until a writer is in the kernel's queue for the vault's lock.
  func isAwaitingLock() async throws {
    let inode = try #require(FileManager.default.attributesOfItem(atPath: throwaway.path)[.systemFileNumber] as? Int)
    while true {
      let locks = try String(contentsOf: URL(filePath: "/proc/locks"), encoding: .utf8).split(separator: "\n")
      if locks.contains(where: { $0.contains(" -> ") && $0.contains(":\(inode) ") }) { return }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// The refresh token that is stored.
  func storedRefreshToken() throws -> String? {
    guard case .dictionary(let members) = try store.value(forKey: "github") else { return nil }
    return if case .string(let text) = members["refresh"] { text } else { nil }
  }

  var store: SecretPreferences {
    get throws { try throwaway.preferences(service: "shop") }
  }
}

/// A door that a refresh waits at, whether it is cancelled or not.
final class Door: Sendable {
  private let isOpen = Mutex(false)
  private let arrivals = Mutex(0)

  func open() { isOpen.withLock { $0 = true } }

  func pass() async {
    arrivals.withLock { $0 += 1 }
    while !isOpen.withLock({ $0 }) { await Task { try? await Task.sleep(for: .milliseconds(1)) }.value }
  }

  /// Waits until this many refreshes have arrived.
  func isReached(by count: Int = 1) async throws {
    while arrivals.withLock({ $0 }) < count { try await Task.sleep(for: .milliseconds(1)) }
  }
}

extension RefreshingToken {
  func text(replacing refused: String? = nil) async throws -> String {
    try await accessToken(replacing: refused.map { try Secret($0) }).withValue { $0 }
  }

  /// The failure of a call.
  func thrown() async throws -> RefreshFailure {
    try await #require(throws: RefreshFailure.self) { try await accessToken() }
  }

  /// The code of the failure of a call.
  func failure() async throws -> RefreshFailure.Code? {
    do {
      _ = try await accessToken()
      return nil
    } catch let failure as RefreshFailure { return failure.code }
  }
}
