#if ServiceLifecycle
  import Foundation
  import InMemoryLogging
  import Logging
  import PreferencesTestSupport
  import Secrets
  import SecretsLifecycle
  import SecretsTesting
  import ServiceLifecycle
  import Testing

  /// A vault in a real service group.
  @Suite(.throwawayVault) struct VaultServiceTests {
    let journal = Journal()
    /// The values of `token` that were loaded.
    let loaded = Events()
  }

  extension VaultServiceTests {
    private struct ReloadFailure: Error { let text = sentinel }

    var throwaway: ThrowawayVault { ThrowawayVault.current }
    var vault: Vault { throwaway.vault }
    var secrets: SecretPreferences { get throws { try throwaway.preferences(service: service) } }

    /// A service that loads `token`.
    ///
    /// - Parameter interval: with the default no check happens during a test, so changes must be noticed without one.
    func vaultService(
      over vault: Vault? = nil, _ unlocking: Unlocking? = nil, checkingEvery interval: Duration = .seconds(3600)
    ) throws -> VaultService {
      let secrets = try SecretPreferences(service: service, in: vault ?? self.vault)
      return VaultService(
        secrets, unlocking: unlocking ?? .key(throwaway.key), checkingEvery: interval, logger: journal.logger
      ) { [loaded] in
        loaded.add(try secrets.string(forKey: "token") ?? "-")
      }
    }

    /// A second open vault over the same file, with a key that can be removed from it.
    func holder(_ current: CurrentKey, _ key: SealingKey) throws -> (Vault, Vault.Identifier) {
      let slot = try vault.addSlot(NewSlot(.key(key)), granting: vault.group())
      return (try Vault.open(at: throwaway.path, unlocking: current.unlocking), slot)
    }

    // MARK: Start

    @Test func `a service loads the secrets at the start, and its group leaves a locked vault`() async throws {
      try await secrets.set("first", forKey: "token")

      try await running(vaultService()) {
        try await until { loaded.all == ["first"] }
        #expect(!vault.isLocked)
      }

      #expect(vault.isLocked)
      #expect(journal.lines == ["info The vault is unlocked", "info The vault was locked"])
      let metadata = try #require(journal.entries.first).metadata
      #expect(metadata["vault"] == "vault com.example.test/default")
      #expect(metadata["vault.groups"] == "1")
      #expect(metadata["vault.isOwner"] == "true")
    }

    @Test func `a vault that is locked at the start is unlocked`() async throws {
      try await secrets.set("first", forKey: "token")
      let service = try vaultService()
      vault.lock()

      try await running(service) { try await until { loaded.all == ["first"] } }

      #expect(vault.isLocked)
    }

    @Test func `a vault that cannot be unlocked at the start ends the group with the vault's error`() async throws {
      let service = try vaultService(.key(SealingKey(from: .system)))
      vault.lock()
      let group = ServiceGroup(
        services: [service, Dependent { try await gracefulShutdown() }], logger: journal.logger)

      let error = await #expect(throws: VaultError.self) { try await group.run() }

      #expect(error?.code == .credentialRejected)
      #expect(loaded.all.isEmpty)
    }

    @Test func `without a configured credential a locked vault ends the group`() async throws {
      let service = try vaultService(Unlocking { nil })
      vault.lock()

      let error = await #expect(throws: VaultError.self) { try await service.run() }

      #expect(error?.code == .noCredential)
    }

    @Test func `a vault that is damaged at the start ends the group`() async throws {
      let service = try vaultService()
      try FileManager.default.removeItem(atPath: throwaway.path)

      let error = await #expect(throws: VaultError.self) { try await service.run() }

      #expect(error?.code == .notFound)
      #expect(vault.isLocked)
    }

    @Test func `the error of the first load ends the group, and the vault is locked`() async throws {
      let service = VaultService(try secrets, unlocking: .key(throwaway.key), logger: journal.logger) {
        throw ReloadFailure()
      }
      let group = ServiceGroup(services: [service], logger: journal.logger)

      await #expect(throws: ReloadFailure.self) { try await group.run() }

      #expect(vault.isLocked)
    }

    // MARK: Shutdown

    @Test func `services that are listed after the vault read it until they have ended`() async throws {
      let (events, secrets) = (Events(), try self.secrets)
      try await secrets.set("first", forKey: "token")
      func dependent(_ name: String) -> Dependent {
        Dependent {
          try? await gracefulShutdown()
          events.add("\(name) \(try secrets.string(forKey: "token") ?? "-")")
        }
      }

      try await running(vaultService(), dependent("database"), dependent("server")) {
        try await until { loaded.all == ["first"] }
      }

      #expect(events.all == ["server first", "database first"])
      #expect(vault.isLocked)
    }

    @Test func `a group that is cancelled leaves a locked vault`() async throws {
      let group = ServiceGroup(services: [try vaultService()], logger: journal.logger)
      let run = Task { try await group.run() }
      try await until { !loaded.all.isEmpty }

      run.cancel()
      _ = await run.result

      #expect(vault.isLocked)
    }

    @Test func `a service that fails beside it leaves a locked vault`() async throws {
      let (loaded, failing) = (loaded, ReloadFailure())
      let group = ServiceGroup(
        services: [
          try vaultService(),
          Dependent {
            try await until { !loaded.all.isEmpty }
            throw failing
          },
        ], logger: journal.logger)

      await #expect(throws: ReloadFailure.self) { try await group.run() }

      #expect(vault.isLocked)
    }

    @Test(arguments: ["an error of cancellation", "an error of its own"])
    func `a shutdown cancels a load that takes long, and is no failure`(thrown: String) async throws {
      struct Aborted: Error {}
      let loaded = loaded
      let service = VaultService(try secrets, unlocking: .key(throwaway.key), logger: journal.logger) {
        loaded.add("begins")
        do { try await Task.sleep(for: .seconds(3600)) } catch {
          throw thrown == "an error of its own" ? Aborted() : error
        }
      }

      try await running(service) { try await until { loaded.all == ["begins"] } }

      #expect(vault.isLocked)
      #expect(journal.lines == ["info The vault is unlocked", "info The vault was locked"])
    }

    // MARK: Changes

    @Test func `a change by another handle, by this one and in a new file is loaded at once`() async throws {
      let other = try SecretPreferences(service: service, in: throwaway.reopened())

      try await running(vaultService()) {
        try await until { loaded.all == ["-"] }
        try await other.set("theirs", forKey: "token")
        try await until { loaded.all.last == "theirs" }
        try await secrets.set("ours", forKey: "token")
        try await until { loaded.all.last == "ours" }
        try await other.vault.rotate(other.vault.group())
        try await other.set("rotated", forKey: "token")
        try await until { loaded.all.last == "rotated" }
      }

      #expect(journal.lines.contains("debug The secrets were reloaded"))
    }

    @Test func `checks that find no change load nothing`() async throws {
      // A way to see checks: each tries to unlock as long as the key is wrong.
      let (right, current) = (try SealingKey(from: .system), CurrentKey(try SealingKey(from: .system)))
      let checks = Events()
      let slot = try await vault.addSlot(NewSlot(.key(right)), granting: vault.group())
      let held = try await Vault.open(at: throwaway.path, credential: .key(right))
      let unlocking = Unlocking { () throws(VaultError) in
        checks.add("check")
        return try current.unlocking.credential()
      }

      try await running(vaultService(over: held, unlocking, checkingEvery: .milliseconds(1))) {
        try await until { loaded.all.count == 1 }
        try await vault.replaceSlot(slot, with: NewSlot(.key(try SealingKey(from: .system))))
        try await until { checks.all.count > 5 }
      }

      #expect(loaded.all == ["-"])
    }

    @Test func `a load that fails is logged with its type alone, and repeated at the next check`() async throws {
      let (loaded, secrets) = (loaded, try self.secrets)
      let service = VaultService(
        secrets, unlocking: .key(throwaway.key), checkingEvery: .milliseconds(1), logger: journal.logger
      ) {
        loaded.add(try secrets.string(forKey: "token") ?? "-")
        if (2...3).contains(loaded.all.count) { throw ReloadFailure() }
      }

      try await running(service) {
        try await until { loaded.all.count == 1 }
        try await secrets.set("new", forKey: "token")
        try await until { journal.lines.contains("debug The secrets were reloaded") }
      }

      #expect(loaded.all == ["-", "new", "new", "new"])
      let failures = journal.entries.filter { $0.level == .error }
      #expect(failures.count == 2)
      #expect(failures.first?.metadata["error.type"] == "ReloadFailure")
      #expect(!journal.text.contains(sentinel))
    }

    // MARK: Keys

    @Test func `a vault that the program locks stays locked until the program unlocks it`() async throws {
      let other = try SecretPreferences(service: service, in: throwaway.reopened())

      try await running(vaultService(checkingEvery: .milliseconds(1))) {
        try await until { loaded.all == ["-"] }
        vault.lock()
        try await until { journal.lines.contains("warning The vault is locked") }
        try await other.set("meanwhile", forKey: "token")
        #expect(vault.isLocked)
        #expect(loaded.all == ["-"])
        try await vault.unlock(.key(throwaway.key))
        try await until { loaded.all == ["-", "meanwhile"] }
      }

      #expect(journal.lines.filter { $0.hasPrefix("warning") }.count == 1)
      #expect(journal.lines.contains("notice The vault is ready again"))
    }

    @Test func `while the key is wrong the vault is unhealthy, which is logged once, and it recovers`() async throws {
      let (old, new) = (try SealingKey(from: .system), try SealingKey(from: .system))
      let current = CurrentKey(old)
      let (held, slot) = try holder(current, old)
      let attempts = Events()
      let unlocking = Unlocking { () throws(VaultError) in
        attempts.add("attempt")
        return try current.unlocking.credential()
      }

      try await running(vaultService(over: held, unlocking, checkingEvery: .milliseconds(1))) {
        try await until { loaded.all == ["-"] }
        try await vault.replaceSlot(slot, with: NewSlot(.key(new)))
        try await until { attempts.all.count > 3 }
        #expect("\(held.health())" == "failing: credentialRejected")
        current.replace(with: new)
        try await until { journal.lines.contains("notice The vault is ready again") }
        #expect(held.health().isReady)
      }

      let failures = journal.entries.filter { $0.level == .error }
      #expect(failures.map(\.message) == ["The vault cannot be read"])
      #expect(failures.first?.metadata["error.code"] == "credentialRejected")
    }

    @Test func `a vault whose file disappears is unhealthy until the file is back`() async throws {
      let path = throwaway.path

      try await running(vaultService(checkingEvery: .milliseconds(1))) {
        try await until { loaded.all == ["-"] }
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        try await until { journal.entries.last?.metadata["error.code"] == "notFound" }
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        try await until { journal.lines.last == "notice The vault is ready again" }
      }

      #expect(loaded.all == ["-"])
    }

    @Test(arguments: [false, true])
    func `a vault with a problem is warned of, also at the start`(fromStart: Bool) async throws {
      try await vault.setAuditing(.failOpen)
      let log = throwaway.path + ".audit-\(try vault.group().id)"
      func breakLog() throws {
        try FileManager.default.moveItem(atPath: log, toPath: log + ".away")
        try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
      }
      if fromStart { try breakLog() }

      try await running(vaultService(checkingEvery: .milliseconds(1))) {
        try await until { loaded.all == ["-"] }
        if !fromStart { try breakLog() }
        try await until { journal.lines.contains("warning The vault can be read, but has a problem") }
        #expect(vault.health().isReady)
        try FileManager.default.removeItem(atPath: log)
        try FileManager.default.moveItem(atPath: log + ".away", toPath: log)
        try await until { journal.lines.last == "notice The vault is ready again" }
      }

      #expect(journal.lines.filter { $0.hasPrefix("warning") }.count == 1)
    }

    // MARK: What is logged

    @Test func `no line of a service and its group contains a value or a name`() async throws {
      let secrets = try self.secrets
      let reload: @Sendable () async throws -> Void = {
        _ = try secrets.required(PreferenceKey<Secret<String>?>("missing.\(sentinel)"))
      }
      let service = VaultService(
        secrets, unlocking: .key(throwaway.key), checkingEvery: .milliseconds(1), logger: journal.logger, reload: reload
      )
      let name = "missing.\(sentinel)"
      try await secrets.set(Secret(sentinel), forKey: name)

      try await running(service) {
        try await until { !journal.entries.isEmpty }
        try await secrets.removeValue(forKey: name)
        try await until { journal.entries.last?.metadata["error.code"] == "absent" }
        vault.lock()
        try await until { journal.lines.contains("warning The vault is locked") }
      }

      #expect(!journal.text.contains(sentinel))
      for text in ["\(service)", String(reflecting: service)] { #expect(text == "VaultService[\(secrets.name)]") }
      #expect(!dumped(service).contains(sentinel) && !dumped(service).contains("unlocking"))
    }
  }
#endif
