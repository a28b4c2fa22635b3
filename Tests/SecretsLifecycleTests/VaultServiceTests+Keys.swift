#if ServiceLifecycle
  import PreferencesTestSupport
  import Secrets
  import SecretsLifecycle
  import SecretsTesting
  import Testing

  /// A service whose vault gets another key.
  extension VaultServiceTests {
    @Test func `a vault whose slot got a new key is unlocked with the key that is found then`() async throws {
      let (old, new) = (try SealingKey(from: .system), try SealingKey(from: .system))
      let current = CurrentKey(old)
      let (held, slot) = try holder(current, old)

      try await running(vaultService(over: held, current.unlocking)) {
        try await until { loaded.all == ["-"] }
        current.replace(with: new)
        try await vault.replaceSlot(slot, with: NewSlot(.key(new)))
        try await secrets.set("under the new key", forKey: "token")
        try await until { loaded.all.last == "under the new key" }
        #expect(held.health().isReady)
      }

      #expect(journal.lines.contains("notice The vault was unlocked with its present key"))
      #expect(!journal.lines.contains { $0.hasPrefix("error") || $0.hasPrefix("warning") })
    }

    /// Runs `body` while the service, whose slot got a new key, looks for it, and then `after`.
    private func whileLookingForKey(
      _ held: Vault, _ slot: Vault.Identifier, _ body: (Vault) async throws -> Void,
      _ after: (Vault) async throws -> Void
    ) async throws {
      let new = try SealingKey(from: .system)
      let (isAsked, answers) = (Signal(), Signal())
      let unlocking = Unlocking { () throws(VaultError) in
        isAsked.send()
        answers.block()
        return .key(new)
      }
      // Also after an error: a thread of a pool waits.
      defer { answers.send() }
      try await running(vaultService(over: held, unlocking)) {
        try await until { loaded.all == ["-"] }
        try await vault.replaceSlot(slot, with: NewSlot(.key(new)))
        try await secrets.set("under the new key", forKey: "token")
        await isAsked.wait()
        try await body(held)
        answers.send()
        try await after(held)
      }
    }

    @Test func `a vault that the program locks while the service looks for its new key stays locked`() async throws {
      let old = try SealingKey(from: .system)
      let (held, slot) = try holder(CurrentKey(old), old)

      try await whileLookingForKey(held, slot, { $0.lock() }) { held in
        try await until { journal.lines.contains("warning The vault is locked") }
        #expect(held.isLocked)
      }

      #expect(loaded.all == ["-"])
      #expect(!journal.lines.contains("notice The vault was unlocked with its present key"))
    }

    @Test func `a vault that the program unlocks while the service looks for its new key keeps the program's`()
      async throws
    {
      let old = try SealingKey(from: .system)
      let (held, slot) = try holder(CurrentKey(old), old)

      try await whileLookingForKey(held, slot, { try await $0.unlock(.key(throwaway.key)) }) { held in
        try await until { loaded.all.last == "under the new key" }
        #expect(held.health().status?.isOwner == true)
      }

      #expect(!journal.lines.contains("notice The vault was unlocked with its present key"))
    }
  }
#endif
