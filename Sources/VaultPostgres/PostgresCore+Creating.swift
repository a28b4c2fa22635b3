#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  internal import VaultCore

  extension PostgresCore {
    /// Stores a new vault, and looks whether it was stored if the answer is lost.
    func create(_ bytes: [UInt8]) throws(VaultError) -> VaultRow {
      // Not one, so that the versions of a vault that was removed do not occur again.
      let row = VaultRow(version: .random(in: 1 << 32..<1 << 40), bytes)
      let limit = Deadline(after: options.holdLimit + options.answerTimeout)
      var pause = Pause()
      var isUnknown = false
      while true {
        do throws(VaultError) {
          let (connection, rows) = try pool.run([.load(place.vault, limit: 0)], .writing)
          if let found = try VaultRow(rows[0]) {
            pool.giveBack(connection)
            guard found == row else { throw exists }
            return taken(row, bytes)
          }
          do throws(QueryFailure) {
            _ = try connection.run(
              [.begin, .settings(lock: limit.remaining, hold: options.holdLimit)]
                + Statement.create(bytes, place.vault, row) + announcement(connection) + [.commit],
              allowing: limit.remaining)
            pool.giveBack(connection)
            return taken(row, bytes)
          } catch {
            if error.isRefused("23505") { throw exists }
            isUnknown = error.isLost
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

    private func taken(_ row: VaultRow, _ bytes: [UInt8]) -> VaultRow {
      takeOwn(.other(row, bytes: bytes), after: nil)
      return row
    }

    /// Takes over what this storage has written, unless the follower has found it already.
    func takeOwn(_ found: FoundBytes, after old: VaultRow?) {
      let asked = ContinuousClock.now
      known.withLock { known in if known.row == old { _ = known.take(found, asked: asked) } }
    }

    func tooLong(_ limit: Int) -> VaultError {
      place.error(.limitExceeded, "the vault is longer than \(limit) bytes")
    }
  }
#endif
