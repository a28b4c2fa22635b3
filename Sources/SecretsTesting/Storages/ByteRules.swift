internal import Testing
internal import VaultCore

extension StorageRule {
  /// Loading, creating and appending.
  static let bytes: [StorageRule] = [
    StorageRule("an empty storage has no vault, and a vault can be created in it") { fixture in
      let storage = try fixture.makeStorage()
      #expect(errorCode { _ = try storage.load(limit: StoredPieces.limit) } == .notFound)
      #expect(errorCode { try storage.lock(until: LockDeadline(after: .zero)).release() } == .notFound)
      #expect(errorCode { try storage.checkVacant() } == nil)
      #expect(!storage.name.isEmpty)
    },

    StorageRule("what was created is found by others, and is not created again") { fixture in
      let stored = try fixture.makeStored()
      let other = try fixture.reopened(stored.storage)
      try stored.expect(in: stored.storage, "what was created")
      try stored.expect(in: other, "what was created, as others find it")
      for storage in [stored.storage, other] {
        #expect(errorCode { try storage.checkVacant() } == .alreadyExists)
        #expect(errorCode { try storage.create([1, 2, 3]).storage.release() } == .alreadyExists)
      }
      try stored.expect(in: other, "what was created, after the second attempt")
      #expect(try stored.storage.changes(since: stored.position, limit: StoredPieces.limit).isNone)
    },

    StorageRule("entries are found behind the position, in their order") { fixture in
      var stored = try fixture.makeStored()
      let other = try fixture.reopened(stored.storage)
      let start = try stored.position(in: other)
      var added: [UInt8] = []
      for (number, count) in [384, 8, 40_000, 1_024].enumerated() {
        let entry = StoredPieces.piece(count, 2 + number)
        try stored.append(entry)
        added += entry
        try other.refresh()
        StoredPieces.expect(
          try other.changes(since: start, limit: StoredPieces.limit), add: added, "the entries from their start")
        try stored.expect(in: other, "everything, with the new entry")
        #expect(try stored.storage.changes(since: stored.position, limit: StoredPieces.limit).isNone)
      }
      try other.synchronize(start.version)
    },

    StorageRule("from the start of a version, a reader finds everything") { fixture in
      var stored = try fixture.makeStored()
      try stored.append(StoredPieces.piece(400, 2))
      let other = try fixture.reopened(stored.storage)
      let version = try other.load(limit: StoredPieces.limit).version
      StoredPieces.expect(
        try other.changes(since: .start(of: version), limit: StoredPieces.limit), add: stored.bytes, "everything")
    },

    StorageRule("what is behind the position of an append is not there any more") { fixture in
      var stored = try fixture.makeStored()
      for (old, new) in [(1_000, 400), (400, 1_000), (800, 800)] {
        // A writer that did not come to the end of its entry.
        try stored.locked { try $0.append(StoredPieces.piece(old, old), at: stored.position) }
        try stored.append(StoredPieces.piece(new, new + 1))
        try stored.expect(in: try fixture.reopened(stored.storage), "the entry that took the place of another")
      }
    },

    StorageRule("a writer finds every byte behind its position") { fixture in
      let stored = try fixture.makeStored()
      try stored.locked { try $0.append(StoredPieces.piece(400, 7), at: stored.position) }
      let locked = try stored.storage.lock(until: LockDeadline(after: .zero))
      defer { locked.release() }
      StoredPieces.expect(
        try locked.changes(since: stored.position, limit: StoredPieces.limit), add: StoredPieces.piece(400, 7),
        "behind the position")
      StoredPieces.expect(
        try locked.changes(since: .start(of: stored.version), limit: StoredPieces.limit),
        add: stored.bytes + StoredPieces.piece(400, 7), "from the start")
    },

    StorageRule("a position whose bytes have changed is stale") { fixture in
      var stored = try fixture.makeStored()
      try stored.append(StoredPieces.piece(400, 2))
      var changed = Array(stored.bytes.suffix(32))
      changed[31] ^= 1
      let stale = [
        StoragePosition(version: stored.version, offset: stored.bytes.count, lastBytes: changed),
        StoragePosition(version: stored.version, offset: stored.bytes.count + 1 << 20, lastBytes: changed),
      ]
      for position in stale {
        #expect(try stored.storage.changes(since: position, limit: StoredPieces.limit).isReplaced)
        let locked = try stored.storage.lock(until: LockDeadline(after: .zero))
        defer { locked.release() }
        #expect(try locked.changes(since: position, limit: StoredPieces.limit).isReplaced)
      }
    },

    StorageRule("more than the limit is not read") { fixture in
      var stored = try fixture.makeStored()
      let position = stored.position
      try stored.append(StoredPieces.piece(400, 2))
      #expect(errorCode { _ = try stored.storage.load(limit: 1_000) } == .limitExceeded)
      #expect(errorCode { _ = try stored.storage.changes(since: position, limit: 4_100) } == .limitExceeded)
      try stored.locked { locked in
        #expect(errorCode { _ = try locked.changes(since: position, limit: 4_100) } == .limitExceeded)
      }
    },
  ]
}
