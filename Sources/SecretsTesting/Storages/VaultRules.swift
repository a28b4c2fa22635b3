internal import Secrets
internal import Testing
internal import VaultCore
internal import VaultSealing

extension StorageRule {
  /// A vault in the storage.
  static let vaults: [StorageRule] = [
    StorageRule("a vault can be used as in a file") { fixture in
      let sample = try await StoredSecrets(in: try fixture.makeStorage())
      try await sample.secrets.set("first", forKey: "a")
      try await sample.secrets.set("second", forKey: "a")
      try await sample.secrets.set("third", forKey: "b")
      #expect(try sample.secrets.string(forKey: "a") == "second")
      try await sample.secrets.removeValue(forKey: "b")
      try await sample.vault.compact()
      #expect(try VaultInfo(in: sample.storage).entryCount == 0)
      try await sample.vault.rotate(try sample.vault.groups()[0])
      #expect(try sample.secrets.string(forKey: "a") == "second")
      #expect(try sample.secrets.string(forKey: "b") == nil)
      #expect(try await sample.vault.verify().values == 1)
      #expect(sample.vault.health().isReady)
      #expect(try VaultInfo(in: sample.storage).vaultID == sample.vault.status().vaultID)

      let reopened = try await sample.opened(in: try fixture.reopened(sample.storage))
      #expect(try reopened.secrets.string(forKey: "a") == "second")
    },

    StorageRule("several vault objects see each other's writes, whatever these replace") { fixture in
      let sample = try await StoredSecrets(in: try fixture.makeStorage())
      let other = try await sample.opened(in: try fixture.reopened(sample.storage))
      for number in 0..<6 {
        let (writer, reader) = number % 2 == 0 ? (sample, other) : (other, sample)
        try await writer.secrets.set("value \(number)", forKey: "a")
        try await reader.vault.refresh()
        #expect(try reader.secrets.string(forKey: "a") == "value \(number)")
        if number % 3 == 1 { try await writer.vault.compact() }
        if number % 3 == 2 { try await writer.vault.rotate(try writer.vault.groups()[0]) }
        try await reader.vault.refresh()
        if number % 3 > 0 { #expect(try VaultInfo(in: sample.storage).entryCount == 0) }
        #expect(try reader.secrets.string(forKey: "a") == "value \(number)")
      }
    },

    StorageRule("vault objects that write at the same time lose no write of each other") { fixture in
      let sample = try await StoredSecrets(in: try fixture.makeStorage())
      let writers = [
        sample, try await sample.opened(in: sample.storage),
        try await sample.opened(in: try fixture.reopened(sample.storage)),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (writer, secrets) in writers.map(\.secrets).enumerated() {
          group.addTask { for number in 0..<10 { try await secrets.set("value", forKey: "\(writer) \(number)") } }
        }
        try await group.waitForAll()
      }
      for writer in writers {
        try await writer.vault.refresh()
        #expect(try await writer.vault.verify().values == 30)
      }
    },

    StorageRule("a vault is backed up, restored, copied and salvaged from one storage to another") { fixture in
      let sample = try await StoredSecrets(in: try fixture.makeStorage())
      try await sample.secrets.set("kept", forKey: "a")
      let backup = try fixture.makeStorage()
      try await sample.vault.backUp(to: backup)
      try await sample.secrets.set("later", forKey: "a")

      let copy = try fixture.makeStorage()
      try await Vault.copy(from: sample.storage, to: copy)
      #expect(try await sample.opened(in: copy).secrets.string(forKey: "a") == "later")

      let replaced = try fixture.makeStorage()
      try await Vault.restore(
        backup, to: sample.storage, credential: .key(sample.key), replacing: true, keepingReplacedIn: replaced)
      #expect(try sample.secrets.string(forKey: "a") == "kept")
      #expect(try await sample.opened(in: replaced).secrets.string(forKey: "a") == "later")

      let salvaged = try fixture.makeStorage()
      _ = try await Vault.salvage(in: replaced, credential: .key(sample.key), to: salvaged)
      #expect(try await sample.opened(in: salvaged).secrets.string(forKey: "a") == "later")
    },

    StorageRule("a vault whose answers are lost knows what it has, or says that it does not", lostAnswers),
  ]

  /// Loses the answers of an append, and of the replacement that follows it, whether they were made or not.
  @Sendable private static func lostAnswers(_ fixture: StorageFixture) async throws {
    for isAppended in [false, true] {
      for replacement in [nil, false, true] as [Bool?] {
        let storage = ForgetfulStorage(try fixture.makeStorage())
        let sample = try await StoredSecrets(in: storage)
        try await sample.secrets.set("old", forKey: "a")
        storage.loseAnswers(append: isAppended, replacement: replacement)
        var found: VaultError.Code?
        do { try await sample.secrets.set("new", forKey: "a") } catch { found = (error as? VaultError)?.code }
        storage.answer()
        let comment: Comment = "append made: \(isAppended), replacement made: \(String(describing: replacement))"
        let value = try sample.secrets.string(forKey: "a")
        let other = try await sample.opened(in: try fixture.reopened(storage.base))
        #expect(try other.secrets.string(forKey: "a") == value, comment)
        if replacement == nil {
          // The replacement that makes the append durable was answered.
          #expect(found == nil && value == "new", comment)
        } else {
          #expect(found == .durabilityUnknown && ["old", "new"].contains(value), comment)
        }
        try await sample.secrets.set("newer", forKey: "a")
        try await other.secrets.set("other", forKey: "b")
        try await sample.vault.refresh()
        #expect(try sample.secrets.string(forKey: "b") == "other", comment)
        #expect(try other.secrets.string(forKey: "a") == "newer", comment)
        #expect(try await other.vault.verify().values == 2, comment)
      }
    }
  }
}
