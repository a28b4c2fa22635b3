#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  internal import VaultCore

  /// The vault while one writer has its row locked.
  ///
  /// The lock is that of a transaction, and a commit ends it. A writer that goes on after a change takes the lock
  /// again: ``changes(since:limit:)`` then takes over what others have written in between, and a further change is
  /// refused if there is anything.
  final class LockedRows: LockedStorage {
    private let core: PostgresCore
    private let deadline: LockDeadline
    /// With a transaction that has the lock; `nil` after a commit.
    private var connection: Connection?
    /// The row as this writer has found or left it.
    private var row: VaultRow
    /// Why nothing more can be written: it is unknown what the last change has left.
    private var end: VaultError?

    private var place: PostgresLocation { core.place }

    init(_ core: PostgresCore, _ deadline: LockDeadline, _ connection: Connection?, _ row: VaultRow) {
      self.core = core
      self.deadline = deadline
      self.connection = connection
      self.row = row
    }

    deinit { release() }

    // MARK: Reading

    func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
      let connection = try lock(takingOver: true)
      switch core.known.withLock({ $0.changes(since: position, limit: limit) }) {
      case .changes(let changes): return changes
      case .tooLong: throw core.tooLong(limit)
      case .unknown: break
      }
      let rows: [Rows]
      do throws(VaultError) { rows = try core.run([.load(place.vault, limit: limit)], connection, .writing) } catch {
        self.connection = nil
        throw error
      }
      guard case .other(let found, let bytes) = try FoundBytes(loaded: rows[0], limit: limit) else { return .removed }
      guard let bytes else { throw core.tooLong(limit) }
      guard found.version == (position.version as? PostgresVersion)?.number, position.isInside(bytes) else {
        return .replaced(nil)
      }
      return .added(StoredBytes(Array(bytes[position.offset...])))
    }

    // MARK: Writing

    func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError) {
      _ = try lock(takingOver: false)
      guard (position.version as? PostgresVersion)?.number == row.version, position.offset <= row.length,
        position.offset < row.length || position.lastBytes.suffix(VaultRow.tailCount) == row.tail[...]
      else { throw stale }
      let new = row.appended(entry, at: position)
      try change(
        to: new, Statement.append(entry, to: place.vault, at: position.offset, from: row, to: new),
        leaving: position.offset == row.length ? .grown(new, bytes: entry) : .other(new, bytes: nil))
    }

    func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion {
      _ = try lock(takingOver: false)
      guard position.map({ ($0.version as? PostgresVersion)?.number == row.version }) ?? true else { throw stale }
      // No vault is written so often.
      guard row.version < .max else { throw place.error(.damaged, VaultRow.broken.message) }
      let new = VaultRow(version: row.version + 1, bytes)
      try change(
        to: new, Statement.replace(bytes, of: place.vault, from: row, to: new), leaving: .other(new, bytes: bytes))
      return core.known.withLock { $0.version(of: new) }
    }

    func remove() -> Bool {
      do throws(VaultError) {
        let connection = try lock(takingOver: false)
        self.connection = nil
        let asked = ContinuousClock.now
        let rows: [Rows]
        do throws(QueryFailure) { rows = try core.commit(Statement.remove(place.vault, row), connection) } catch {
          throw place.error(error, .writing)
        }
        core.pool.release(connection)
        // The row was locked, so a policy of the database hides it from the deletion.
        guard rows[0].changedCount == 1 else { return false }
        core.takeOwn(.absent, after: row, asked: asked)
        return true
      } catch { return false }
    }

    func release() {
      guard let connection else { return }
      self.connection = nil
      core.end(connection)
    }

    // MARK: Changes

    private var stale: VaultError { place.error(.io, "the position is not in the present version of the vault") }

    /// Makes a change and commits it. What it did is known when this returns.
    ///
    /// Once an answer was lost, the change is uncertain until it is found or acknowledged: a server that was promoted
    /// since may have lost it, so that another failure proves nothing.
    private func change(to new: VaultRow, _ statements: [Statement], leaving found: FoundBytes) throws(VaultError) {
      let limit = Deadline(after: max(deadline.remaining, core.options.holdLimit + core.options.answerTimeout))
      var pause = Pause()
      var isUncertain = false
      while true {
        do throws(VaultError) {
          let connection = try lock(takingOver: false)
          self.connection = nil
          let asked = ContinuousClock.now
          if try commit(statements, connection) {
            core.takeOwn(found, after: row, asked: asked)
            row = new
            return
          }
        } catch { throw isUncertain ? unknown(error) : error }
        core.pool.noteLoss(isRetried: true)
        // Whatever the old transaction did, it has ended when the lock is granted again.
        isUncertain = true
        while self.connection == nil {
          do throws(VaultError) { if try isMade(new, until: limit) { return } } catch {
            guard [.unreachable, .readOnly].contains(error.code), limit.remaining > .zero else { throw unknown(error) }
            pause.wait(atMost: limit.remaining)
          }
        }
      }
    }

    /// Returns `false` if the answer is lost.
    private func commit(_ statements: [Statement], _ connection: Connection) throws(VaultError) -> Bool {
      let rows: [Rows]
      do throws(QueryFailure) { rows = try core.commit(statements, connection) } catch {
        if error.isLost { return false }
        // Undone by the server, or ended before it read the statements.
        throw place.error(error, .writing)
      }
      core.pool.release(connection)
      // The row was locked, so a policy of the database hides it from the update.
      guard rows[0].changedCount == 1 else { throw place.error(.refused(state: "42501"), .writing) }
      return true
    }

    /// Locks again and looks whether a change was made that had no answer. If not, the lock is held for another
    /// attempt.
    private func isMade(_ new: VaultRow, until limit: Deadline) throws(VaultError) -> Bool {
      let (connection, found) = try core.lock(waiting: limit.remaining)
      if found == row {
        self.connection = connection
        return false
      }
      // Others may have appended since.
      let rows = try core.run(
        [.changes(place.vault, since: new, limit: .max)], connection, .writing)
      core.end(connection)
      switch try FoundBytes(rows[0], since: new, limit: .max) {
      case .unchanged, .grown:
        core.writes.add(1, ordering: .relaxed)
        row = found
        return true
      case .absent, .other:
        throw place.error(.io, "another writer has changed the vault")
      }
    }

    private func unknown(_ cause: VaultError) -> VaultError {
      let error = place.error(
        .durabilityUnknown, "the answer to a write is lost, and the vault does not show whether it was made",
        cause: cause)
      end = error
      return error
    }

    /// The connection that has the lock, which is taken again after a commit.
    ///
    /// - Parameter isTakingOver: whether the caller takes over what others have written in between.
    private func lock(takingOver isTakingOver: Bool) throws(VaultError) -> Connection {
      if let end { throw end }
      if let connection { return connection }
      let (connection, found) = try core.lock(waiting: deadline.remaining)
      guard isTakingOver || found == row else {
        core.end(connection)
        throw place.error(
          .lockTimeout,
          "another writer has changed the vault since this one had the lock, which ends with a change and after "
            + "\(core.options.holdLimit)"
        )
      }
      self.connection = connection
      row = found
      return connection
    }

    /// Takes the lock after a creation, if no other writer has it already.
    func lockAgain() {
      do throws(VaultError) { _ = try lock(takingOver: false) } catch { return }
    }
  }
#endif
