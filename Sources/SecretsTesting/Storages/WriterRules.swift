internal import DurableFiles
internal import Testing
internal import VaultCore

extension StorageRule {
  /// The lock, and observers.
  static let writers: [StorageRule] = [
    StorageRule("there is one writer at a time, and one that does not get the lock is a lockTimeout") { fixture in
      let stored = try fixture.makeStored()
      let others = [stored.storage, try fixture.reopened(stored.storage)]
      let locked = try stored.storage.lock(until: LockDeadline(after: .zero))
      for other in others {
        for timeout in [Duration.zero, .milliseconds(20)] {
          #expect(errorCode { try other.lock(until: LockDeadline(after: timeout)).release() } == .lockTimeout)
        }
        // Readers do not wait.
        try stored.expect(in: other, "what is read while a writer has the lock")
      }
      locked.release()
      for other in others { #expect(errorCode { try other.lock(until: LockDeadline(after: .zero)).release() } == nil) }
    },

    StorageRule("a storage that was just created is locked until it is released") { fixture in
      let storage = try fixture.makeStorage()
      let (locked, _) = try storage.create(StoredPieces.piece(4_096, 1))
      let other = try fixture.reopened(storage)
      #expect(errorCode { try other.lock(until: LockDeadline(after: .zero)).release() } == .lockTimeout)
      locked.release()
      #expect(errorCode { try other.lock(until: LockDeadline(after: .zero)).release() } == nil)
    },

    StorageRule("a writer that waits gets the lock when it is released, also that of a new version") { fixture in
      let stored = try fixture.makeStored()
      let other = try fixture.reopened(stored.storage)
      for isReplaced in [false, true] {
        let locks = StorageTally()
        // Nothing is awaited while the lock is held: a server ends it after a time.
        let (waiting, early) = try await BlockingStorage.run { [storage = stored.storage] in
          let locked = try storage.lock(until: LockDeadline(after: .zero))
          let waiting = Task {
            try await BlockingStorage.run {
              let locked = try other.lock(until: LockDeadline(after: .seconds(600)))
              locks.add()
              locked.release()
            }
          }
          usleep(20_000)
          let early = locks.count
          // A change may end the lock.
          if isReplaced { _ = try locked.replace(with: StoredPieces.piece(4_096, 8), behind: nil) }
          locked.release()
          return (waiting, early)
        }
        #expect(early == 0)
        try await waiting.value
        #expect(locks.count == 1)
      }
    },

    StorageRule("no append of several writers is lost") { fixture in
      let stored = try fixture.makeStored()
      let (writers, count) = (4, 20)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
          group.addTask {
            let storage = try fixture.reopened(stored.storage)
            try await BlockingStorage.run {
              let version = try storage.load(limit: StoredPieces.limit).version
              for number in 0..<count {
                let locked = try storage.lock(until: LockDeadline(after: .seconds(600)))
                defer { locked.release() }
                guard
                  case .added(let all) = try locked.changes(since: .start(of: version), limit: StoredPieces.limit)
                else {
                  Issue.record("the version is not there any more")
                  return
                }
                let bytes = all.bytes
                let end = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
                let entry = [UInt8](repeating: UInt8(writer + 1), count: 7) + [UInt8(number + 1)]
                let last = Array(bytes[(end - 32)..<end])
                try locked.append(entry, at: StoragePosition(version: version, offset: end, lastBytes: last))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let found = try stored.storage.load(limit: StoredPieces.limit).bytes.bytes.dropFirst(stored.bytes.count)
      var numbers = [UInt8](repeating: 0, count: writers)
      for start in stride(from: found.startIndex, to: found.startIndex + writers * count * 8, by: 8) {
        guard start + 8 <= found.endIndex, (1...writers).contains(Int(found[start])) else {
          Issue.record("an entry is missing")
          return
        }
        let writer = Int(found[start]) - 1
        numbers[writer] += 1
        #expect(found[start + 7] == numbers[writer], "the entries of one writer are in order")
      }
      #expect(numbers == Array(repeating: UInt8(count), count: writers))
    },

    StorageRule("an observer is notified of what others append and replace") { fixture in
      var stored = try fixture.makeStored()
      let other = try fixture.reopened(stored.storage)
      let calls = StorageTally()
      let observation = try other.observe { calls.add() }
      try stored.append(StoredPieces.piece(400, 2))
      #expect(await calls.wait(over: 0))
      let before = calls.count
      try stored.replace(with: StoredPieces.piece(6_000, 3))
      #expect(await calls.wait(over: before))
      observation.stop()
      try stored.append(StoredPieces.piece(400, 4))
    },
  ]
}
