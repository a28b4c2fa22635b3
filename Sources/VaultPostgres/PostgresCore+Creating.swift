#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  internal import VaultCore

  extension PostgresCore {
    /// Stores a new vault, and looks whether it was stored if the answer is lost.
    ///
    /// Once an answer was lost, it is unknown whether the vault was stored until it is found or acknowledged: a refusal
    /// of a later attempt says nothing of the first.
    func create(_ bytes: [UInt8]) throws(VaultError) -> VaultRow {
      // Not one, so that the versions of a vault that was removed do not occur again.
      let row = VaultRow(version: .random(in: 1 << 32..<1 << 40), bytes)
      let limit = Deadline(after: options.holdLimit + options.answerTimeout)
      var pause = Pause()
      var isUnknown = false
      while true {
        let asked = ContinuousClock.now
        do throws(VaultError) {
          let (connection, rows) = try pool.run([.load(place.vault, limit: 0)], .writing)
          if let found = try VaultRow(rows[0]) {
            pool.release(connection)
            guard found == row else { throw exists }
            return taken(row, bytes, asked)
          }
          do throws(QueryFailure) {
            let begun = [Statement.begin, .settings(lock: limit.remaining, hold: options.holdLimit)]
            _ = try commit(
              begun + Statement.create(bytes, place.vault, row), connection, allowing: limit.remaining)
            pool.release(connection)
            return taken(row, bytes, asked)
          } catch {
            isUnknown = isUnknown || error.isLost
            if error.isLost { pool.noteLoss(isRetried: true) }
            if error.isRefused("23505") {
              guard isUnknown, limit.remaining > .zero else { throw exists }
              // Perhaps its own, which was still on its way at the last look.
              pause.wait(atMost: limit.remaining)
              continue
            }
            throw place.error(error, .writing)
          }
        } catch {
          guard isUnknown else { throw error }
          guard error.code == .unreachable, limit.remaining > .zero else {
            throw place.error(.durabilityUnknown, "it is unknown whether the vault was created", cause: error)
          }
          pause.wait(atMost: limit.remaining)
        }
      }
    }

    private var exists: VaultError {
      place.error(.alreadyExists, "there is a vault of this name in the database already")
    }

    private func taken(_ row: VaultRow, _ bytes: [UInt8], _ asked: ContinuousClock.Instant) -> VaultRow {
      takeOwn(.other(row, bytes: bytes), after: nil, asked: asked)
      return row
    }

    /// Takes over what this storage has written, unless the follower has found it already. Observers are notified, as
    /// other vaults may use the storage.
    ///
    /// - Parameter asked: when the change was sent: it shows what others had committed before.
    func takeOwn(_ found: FoundBytes, after old: VaultRow?, asked: ContinuousClock.Instant) {
      writes.add(1, ordering: .relaxed)
      let isChanged = known.withLock { known in known.row == old && known.take(found, asked: asked) }
      if isChanged { notifyObservers() }
    }

    func tooLong(_ limit: Int) -> VaultError {
      place.error(.limitExceeded, "the vault is longer than \(limit) bytes")
    }
  }
#endif
