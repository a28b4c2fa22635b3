internal import Secrets
internal import Testing
internal import VaultCore
internal import VaultSealing

extension StorageRule {
  /// That nothing which a storage returns is trusted.
  static let lies: [StorageRule] = [
    StorageRule("a vault that a storage has changed is refused, and nothing that was not written is read") { fixture in
      for lie in StorageLie.allCases {
        let storage = LyingStorage(try fixture.makeStorage())
        let sample = try await StoredSecrets(in: storage)
        for number in 1...4 { try await sample.secrets.set("value \(number)", forKey: "a") }
        storage.lie(lie)
        let comment: Comment = "\(lie)"
        do {
          let opened = try await sample.opened(in: storage)
          // Only an earlier state opens.
          let value = try opened.secrets.string(forKey: "a")
          #expect(lie == .withheld && value == "value 3", comment)
        } catch {
          let refusals: [VaultError.Code] = [.damaged, .tampered, .malformed, .notAVault]
          #expect(refusals.contains((error as? VaultError)?.code ?? .io) && lie != .withheld, comment)
        }
        storage.lie(nil)
        #expect(try sample.secrets.string(forKey: "a") == "value 4", comment)
        #expect(try await sample.opened(in: storage).secrets.string(forKey: "a") == "value 4", comment)
      }
    },

    StorageRule("an open vault refuses entries that a storage has changed, until they are right again") { fixture in
      for lie in [StorageLie.reordered, .doubled, .changedEntry] {
        let storage = LyingStorage(try fixture.makeStorage())
        let sample = try await StoredSecrets(in: storage)
        let reader = try await sample.opened(in: storage)
        #expect(try reader.secrets.string(forKey: "a") == nil)
        for number in 1...4 { try await sample.secrets.set("value \(number)", forKey: "a") }
        storage.lie(lie)
        var found: VaultError.Code?
        var value: String?
        do { value = try reader.secrets.string(forKey: "a") } catch { found = (error as? VaultError)?.code }
        let comment: Comment = "\(lie)"
        #expect(found == .tampered || found == .damaged || value == "value 2" || value == "value 1", comment)
        storage.lie(nil)
        try await sample.vault.compact()
        #expect(try reader.secrets.string(forKey: "a") == "value 4", comment)
      }
    },

    StorageRule("a vault that a storage has put back is noticed with a mark") { fixture in
      let storage = LyingStorage(try fixture.makeStorage())
      var options = Vault.Options()
      options.markPath = fixture.folder + "/" + fixture.uniqueName()
      let sample = try await StoredSecrets(in: storage, options: options)
      try await sample.secrets.set("old", forKey: "a")
      try storage.withholdWhatFollows()
      try await sample.secrets.set("new", forKey: "a")
      let withoutMark = try await sample.opened(in: storage)
      #expect(try withoutMark.secrets.string(forKey: "a") == "old")
      await #expect {
        _ = try await sample.opened(in: storage, options: options)
      } throws: { ($0 as? VaultError)?.code == .rolledBack }
    },
  ]
}
