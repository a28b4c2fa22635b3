internal import Testing
internal import VaultCore

extension StorageRule {
  /// Replacing and removing.
  static let replacing: [StorageRule] = [
    StorageRule("a replacement is a new version, and what others know is stale") { fixture in
      var stored = try fixture.makeStored()
      let other = try fixture.reopened(stored.storage)
      let old = stored.position
      let othersOld = try stored.position(in: other)
      // With the same length and the same end, only the version says that the rest is different.
      let bytes = StoredPieces.piece(stored.bytes.count - 32, 9) + stored.bytes.suffix(32)
      try stored.replace(with: bytes)
      try stored.expect(in: other, "the new bytes, as others find them")
      #expect(try other.changes(since: othersOld, limit: StoredPieces.limit).isReplaced)
      #expect(try stored.storage.changes(since: old, limit: StoredPieces.limit).isReplaced)
      #expect(try stored.storage.changes(since: stored.position, limit: StoredPieces.limit).isNone)
      try stored.append(StoredPieces.piece(400, 3))
      try stored.expect(in: other, "an entry behind the new bytes")
    },

    StorageRule("nothing is appended behind a stale position") { fixture in
      var stored = try fixture.makeStored()
      let old = stored.position
      try stored.replace(with: stored.bytes)
      try stored.locked { (locked) throws in
        #expect(try locked.changes(since: old, limit: StoredPieces.limit).isReplaced)
        #expect(errorCode { try locked.append(StoredPieces.piece(400, 5), at: old) } != nil)
        #expect(errorCode { _ = try locked.replace(with: [1, 2, 3], behind: old) } != nil)
      }
      try stored.expect(in: stored.storage, "the new bytes")
    },

    StorageRule("a writer can go on after a replacement") { fixture in
      let stored = try fixture.makeStored()
      let (first, second) = (StoredPieces.piece(5_000, 3), StoredPieces.piece(400, 4))
      try stored.locked { locked in
        let version = try locked.replace(with: first, behind: nil)
        let end = StoragePosition(version: version, offset: first.count, lastBytes: Array(first.suffix(32)))
        try locked.append(second, at: end)
      }
      let found = try fixture.reopened(stored.storage).load(limit: StoredPieces.limit).bytes.bytes
      #expect(found.starts(with: first + second))
    },

    StorageRule("a vault that was removed is not there, and another can be created") { fixture in
      let stored = try fixture.makeStored()
      #expect(try stored.locked { $0.remove() })
      let other = try fixture.reopened(stored.storage)
      #expect(errorCode { _ = try other.load(limit: StoredPieces.limit) } == .notFound)
      #expect(try stored.storage.changes(since: stored.position, limit: StoredPieces.limit).isRemoved)
      let next = try StoredPieces(in: other, 2_000)
      try next.expect(in: try fixture.reopened(other), "the second vault")
      #expect(try !stored.storage.changes(since: stored.position, limit: StoredPieces.limit).isNone)
    },

    StorageRule("a reader finds the old or the new bytes, never a part of each") { fixture in
      let stored = try fixture.makeStored(20_000)
      let other = try fixture.reopened(stored.storage)
      let versions = (0..<20).map { StoredPieces.piece(20_000 + 800 * $0, $0 + 1) }
      let ends = StorageTally()
      async let writing: Void = BlockingStorage.run {
        defer { ends.add() }
        var stored = stored
        for bytes in versions { try stored.replace(with: bytes) }
      }
      try await BlockingStorage.run {
        while ends.count == 0 {
          let found = try other.load(limit: StoredPieces.limit).bytes.bytes
          let isWhole = versions.contains { version in
            found.starts(with: version) && found.dropFirst(version.count).allSatisfy { $0 == 0 }
          }
          #expect(isWhole)
        }
      }
      try await writing
    },

    StorageRule("a reader finds every entry that was appended before, and none in part before others") { fixture in
      let stored = try fixture.makeStored()
      let other = try fixture.reopened(stored.storage)
      let entries = (0..<60).map { StoredPieces.piece(1_000 + 8 * $0, $0 + 2) }
      let all = stored.bytes + entries.joined()
      let ends = StorageTally()
      async let writing: Void = BlockingStorage.run {
        defer { ends.add() }
        var stored = stored
        for entry in entries { try stored.append(entry) }
      }
      try await BlockingStorage.run {
        var known = 0
        while ends.count == 0 {
          let found = try other.load(limit: StoredPieces.limit).bytes.bytes
          let common = zip(found, all).prefix { $0 == $1 }.count
          #expect(common >= known, "entries that were there are not there any more")
          // Behind the part of an entry that is being written, there may be zeros.
          let rest = found.dropFirst(common)
          #expect(rest.count < 4_096 || rest.dropFirst(2_000).allSatisfy { $0 == 0 })
          known = max(known, common - entries[entries.count - 1].count)
        }
      }
      try await writing
      let found = try other.load(limit: StoredPieces.limit).bytes.bytes
      #expect(found.starts(with: all))
    },
  ]
}
