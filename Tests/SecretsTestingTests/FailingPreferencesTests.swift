import Foundation
import Glibc
import Secrets
import SecretsTesting
import Testing

/// A store in a condition that a test has set throws the errors of a vault in that condition.
struct FailingPreferencesTests {
  /// What a caller sees of an error: the type, the code, the error number, and the same of the cause.
  struct Seen: Equatable, CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
      description =
        switch error {
        case let error as VaultError: "VaultError.\(error.code.rawValue), \(error.errno ?? 0)"
        case let error as PreferencesError:
          "PreferencesError.\(error.code), cause: \(error.cause.map { Seen($0).description } ?? "none")"
        default: "\(type(of: error))"
        }
    }

    /// The error of `use`, or `nil` if it succeeds.
    static func error<R>(_ use: () throws -> R) -> Seen? {
      do {
        _ = try use()
        return nil
      } catch { return Seen(error) }
    }

    static func errorOfAsync<R>(_ use: () async throws -> R) async -> Seen? {
      do {
        _ = try await use()
        return nil
      } catch { return Seen(error) }
    }
  }

  /// Every kind of call, on a store and on a composite with the store in front.
  private static func errors(of store: some PreferencesStore, value: String = "new") async -> [String: Seen?] {
    let composite: CompositePreferences = [store.claiming(.names(["github", "other"])), DictionaryPreferences()]
    var seen: [String: Seen?] = [:]
    for (name, store) in ["store": store, "composite": composite] as [String: any PreferencesStore] {
      let github = PreferenceKey<Secret<String>?>("github")
      seen["\(name), value"] = Seen.error { try store.value(forKey: "github") }
      seen["\(name), string"] = Seen.error { try store.string(forKey: "github") }
      seen["\(name), secret"] = Seen.error { try store.secret(String.self, forKey: "github") }
      seen["\(name), absent"] = Seen.error { try store.secret(String.self, forKey: "absent") }
      seen["\(name), required"] = Seen.error { try store.required(github) }
      seen["\(name), keys"] = Seen.error { try store.keys() }
      seen["\(name), dictionary"] = Seen.error { try store.dictionary() }
      seen["\(name), set"] = Seen.error { try store.set(value, forKey: "other") }
      seen["\(name), set a secret"] = Seen.error { try store.set(try Secret(value), forKey: "other") }
      seen["\(name), update"] = Seen.error {
        try store.update(PreferenceKey("other", default: "")) { $0 += value }
      }
      seen["\(name), set, async"] = await Seen.errorOfAsync { try await store.set(value, forKey: "other") }
      seen["\(name), merge, async"] = await Seen.errorOfAsync { try await store.set(["other": .string(value)]) }
    }
    return seen
  }

  private static func expected(
    _ condition: FailingPreferences.Condition, value: String = "new"
  ) async throws -> [String: Seen?] {
    let vault = try ThrowawayVault()
    let store = FailingPreferences(try Self.store(vault))
    store.become(condition)
    return await errors(of: store, value: value)
  }

  private static func store(_ vault: ThrowawayVault) throws -> SecretPreferences {
    let store = try vault.preferences()
    try store.set("ghp_example", forKey: "github")
    return store
  }

  @Test func `a locked test store throws what a locked vault throws`() async throws {
    let vault = try ThrowawayVault()
    let store = try Self.store(vault)

    vault.lock()

    let errors = await Self.errors(of: store)
    let expected = try await Self.expected(.locked)
    #expect(errors == expected)
    #expect(errors["store, string"]??.description == "VaultError.locked, 0")
    try vault.unlock()
    #expect(try store.string(forKey: "github") == "ghp_example")
  }

  @Test func `a damaged test store throws what a damaged vault throws`() async throws {
    let vault = try ThrowawayVault()
    let store = try Self.store(vault)

    try vault.damage()

    let errors = await Self.errors(of: store)
    let expected = try await Self.expected(.damaged)
    #expect(errors == expected)
    #expect(errors["store, string"]??.description == "VaultError.damaged, 0")
    #expect(Seen.error { try vault.reopened() } == Seen.error { throw VaultError(.damaged, "") })
  }

  /// More than the reserve of a vault, so that a write needs room on the disk.
  private static let long = String(repeating: "x", count: 60_000)

  @Test(.enabled(if: SmallDisk.isAvailable, "mounting a file system needs privileges"))
  func `a full test store throws what a vault on a full disk throws`() async throws {
    let disk = try SmallDisk()
    let vault = try ThrowawayVault(in: disk.path)
    let store = try Self.store(vault)

    try disk.fill()

    let errors = await Self.errors(of: store, value: Self.long)
    let expected = try await Self.expected(.full, value: Self.long)
    #expect(errors == expected)
    #expect(errors["store, set"]??.description == "VaultError.io, \(ENOSPC)")
    #expect(try store.string(forKey: "github") == "ghp_example")
    #expect(Seen.error { try store.set("small", forKey: "other") } == nil)
  }

  @Test func `a vault whose file may not grow has the code of a full disk, without privileges`() async {
    await #expect(processExitsWith: .success) {
      let vault = try ThrowawayVault()
      let store = try Self.store(vault)
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 40_000, rlim_max: 40_000)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)

      let full = FailingPreferences(isSealed: true)
      full.become(.full)
      let expected = await #expect(throws: VaultError.self) { try await full.set(Self.long, forKey: "other") }
      let error = await #expect(throws: VaultError.self) { try await store.set(Self.long, forKey: "other") }

      #expect(error?.code == expected?.code)
      #expect(try store.string(forKey: "github") == "ghp_example")
    }
  }

  // MARK: Errors of your own

  private struct Mine: Error {}

  @Test func `a store throws an error of the test, for reads, for writes or for both`() throws {
    let store = FailingPreferences(["port": 80] as DictionaryPreferences)

    store.become(.failing(with: Mine()))
    #expect(throws: Mine.self) { try store.integer(forKey: "port") }
    #expect(throws: Mine.self) { try store.set(81, forKey: "port") }
    store.become(.failing())
    #expect(throws: FailingPreferences.Failure.self) { try store.keys() }
    store.become(.init(writing: Mine()))
    #expect(try store.integer(forKey: "port") == 80)
    #expect(throws: Mine.self) { try store.set(81, forKey: "port") }
    store.become(.working)
    try store.set(81, forKey: "port")
    #expect(try store.integer(forKey: "port") == 81)
  }

  // MARK: Slow

  @Test func `a call to a slow store returns when the store works again`() async throws {
    let store = FailingPreferences(["port": 80] as DictionaryPreferences)
    store.become(.slow)

    async let port = BlockingWork.run { try store.integer(forKey: "port") }
    async let names = BlockingWork.run { try store.keys() }
    async let written = store.removeValue(forKey: "none")
    try await store.waitForCalls(3)
    store.become(.working)

    #expect(try await port == 80)
    #expect(try await names == ["port"])
    _ = try await written
    store.become(.slow)
    let again = Task { try await BlockingWork.run { try store.integer(forKey: "port") } }
    try await store.waitForCalls()
    store.become(.locked)
    let error = await #expect(throws: VaultError.self) { try await again.value }
    #expect(error?.code == .locked)
  }

  @Test
  func `with slow writes a read does not wait, and a write meets what was written meanwhile`()
    async throws
  {
    let base = DictionaryPreferences(["count": 1])
    let store = FailingPreferences(base)
    store.become(.slowWrites)

    async let changed = store.compareAndSet(1, to: 2, forKey: "count")
    try await store.waitForCalls()
    #expect(try store.integer(forKey: "count") == 1)
    try await base.set(10, forKey: "count")
    store.become(.working)

    #expect(try await changed == .conflict)
    #expect(try store.integer(forKey: "count") == 10)
  }

  @Test func `a call of a cancelled task waits no longer`() async throws {
    let store = FailingPreferences(["port": 80] as DictionaryPreferences)
    store.become(.slow)

    let read = Task { try await BlockingWork.run { try store.integer(forKey: "port") } }
    let write = Task { try await store.set(81, forKey: "port") }
    try await store.waitForCalls(2)
    read.cancel()
    write.cancel()

    let port = try await read.value
    #expect(port == 80 || port == 81)
    #expect(try await write.value == .visible)
  }

  @Test func `a composite names the code of the layer that failed, wherever it says so`() throws {
    let vault = FailingPreferences(name: "vault", isSealed: true)
    vault.become(.locked)
    let composite = CompositePreferences([vault.claiming(.names(["token"]))])
    let error = #expect(throws: PreferencesError.self) { _ = try composite.string(forKey: "token") }
    #expect(error?.description == #"unavailable: layer "vault" failed (locked)"#)
    #expect(error?.failureCode == "unavailable (locked)")
    #expect(try composite.explain("token").description.hasSuffix("fails (locked)"))
    #expect("\(VaultError.Code.locked) \(RefreshFailure.Code.rejected)" == "locked rejected")
    struct Foreign: ClassifiedError { var failureClass: FailureClass { VaultError.Code.io.failureClass } }
    #expect(Foreign().failureCode == "Foreign")
  }
}
