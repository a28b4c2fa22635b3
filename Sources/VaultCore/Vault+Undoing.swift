internal import VaultSealing

extension Vault {
  /// The newest write that the journal has, of one group or of all that are open to the credential.
  ///
  /// - Returns: The group, and the revision of the records that the write changed. `nil` if the last write of the group
  ///   replaced the whole vault, such as a rotation: nothing is stored of what it changed.
  package func lastWrite(in group: AccessGroup?) throws(VaultError) -> (group: AccessGroup, revision: UInt64)? {
    try StoredWrites(of: handle).last(in: group?.id)
  }

  /// Finds out what undoing writes would do, as if they were one: those that gave records of `group` these revisions,
  /// of a program that commits nothing else at the same time, such as the tool. Changes nothing.
  ///
  /// A record that the write made is removed, as ``Options/keeping`` says, or as the removed record of its name was. A
  /// record whose value it replaced gets the earlier value back, if that is kept, and one that it removed exists again,
  /// unless it was removed for good. A record that it moved has its old name again. Label, comment, attributes and
  /// expiry are as before. Values are opened to find out where one from before is kept, and compared in locked memory;
  /// none is lent.
  ///
  /// If the journal does not have the write any more, what it did is derived from the history, which has no metadata:
  /// label, comment and attributes stay as they are, the expiry is removed, and a change of metadata alone looks like
  /// a new value (``UndoneWrite/isDerived``).
  /// - Parameter derives: whether the history may say what one write did.
  /// - Throws: ``VaultError/Code/notFound`` if the journal does not have the writes any more, and nothing is derived.
  package func undoing(
    _ revisions: ClosedRange<UInt64>, in group: AccessGroup, deriving derives: Bool = true
  ) throws(VaultError) -> UndoneWrite {
    guard let write = try StoredWrites(of: handle).write(revisions, of: group.id) else {
      guard derives, revisions.count == 1 else {
        throw VaultError(.notFound, "the journal does not have these writes, or not any more")
      }
      return try derivedUndoing(revisions.lowerBound, in: group)
    }
    return try handle.withCurrent { (_, state) throws(VaultError) in
      var reversal = WriteReversal(
        revisions: revisions, values: try ValueLocator(write, of: group.id, options),
        current: try state.content(group.id), removal: undoingRemoval, depth: options.keeping.defaultDepth,
        now: options.now())
      try reversal.run()
      return reversal.undone
    }
  }

  /// Whether the journal has the writes that made these revisions, so that undoing them also brings metadata back.
  /// `false` if it cannot be read.
  package func isInJournal(_ revisions: ClosedRange<UInt64>, of group: AccessGroup) -> Bool {
    do throws(VaultError) { return try StoredWrites(of: handle).has(revisions, of: group.id) } catch { return false }
  }

  private var undoingRemoval: RecordChange.HowRemoved {
    options.keeping.removedRecords.map { .kept(for: $0.milliseconds) } ?? .atOnce
  }

  private func derivedUndoing(_ revision: UInt64, in group: AccessGroup) throws(VaultError) -> UndoneWrite {
    var undone = UndoneWrite(isDerived: true)
    var edit = RecordEdit()
    edit.defaultHistoryDepth = options.keeping.defaultDepth
    try handle.withCurrent { (_, state) throws(VaultError) in
      try state.content(group.id).forEachStored { (record) throws(VaultError) in
        let info = try RecordInfo(record)
        let address = RecordAddress(info.service, info.key)
        guard info.revision == revision else {
          if info.previous.contains(where: { $0.revision == revision }) { undone.leave(info, .changedSince) }
          return
        }
        // Both times are from one reading of the clock if the write made the record.
        if !record.isRemoved, info.created == info.modified {
          undone.removed.append(info)
          undone.changes.append(RecordChange(address, .remove(undoingRemoval), ifRevision: revision))
        } else if let earlier = info.previous.first?.revision {
          undone.restored.append(info)
          undone.changes.append(
            RecordChange(address, .restore(earlier, moves: true), edit, ifRevision: record.isRemoved ? 0 : revision))
        } else {
          undone.leave(info, .noEarlierValue)
        }
      }
    }
    return undone
  }

  /// Makes the changes of ``undoing(_:in:)`` in one transaction.
  /// - Throws: ``VaultError/Code/conflict`` if one of the records was changed since.
  package func commit(_ undone: UndoneWrite, in group: AccessGroup) throws(VaultError) {
    try commit(undone.changes, in: group)
  }
}

/// What ``Vault/undoing(_:in:)`` does with each record, as it is before.
package struct UndoneWrite: Sendable {
  /// Why a record is left as it is, or not wholly brought back.
  package enum Reason: String, Sendable, CaseIterable {
    /// The record was changed or removed later.
    case changedSince = "changed since"
    /// The value that was replaced is not kept.
    case noEarlierValue = "no earlier value"
    case removedForGood = "removed for good"
    /// The record did not exist before, and was removed since, or was stored as a removed one.
    case removedAlready = "removed already"
    /// Its history depth has no room for the value that is undone, or for those that the writes stored behind it. They
    /// are nowhere else, and so it gets a larger one.
    case keepsUndone = "it keeps more earlier values than before, so that none is dropped"
    /// A removed record had its name. It is removed again, with the metadata from before, and the value that is undone
    /// is the newest that it keeps.
    case removedBefore = "the undone value is the newest of the removed key"
    case changedClass = "its accessibility was changed"
    /// The value and the metadata are as before, and earlier values that the write dropped are gone, such as the oldest
    /// one of a full history.
    case droppedValues = "its dropped earlier values are gone"
  }

  package struct Left: Sendable {
    package let record: RecordInfo
    package let reason: Reason
  }

  /// Whether the journal no longer has the write, so that the history had to say what it did.
  package internal(set) var isDerived = false
  var changes: [RecordChange] = []
  /// The records that get an earlier value or their old name again.
  package internal(set) var restored: [RecordInfo] = []
  /// The records that the write had made.
  package internal(set) var removed: [RecordInfo] = []
  /// The records of which the write has changed the metadata only.
  package internal(set) var edited: [RecordInfo] = []
  package internal(set) var left: [Left] = []

  mutating func leave(_ record: RecordInfo, _ reason: Reason) {
    left.append(Left(record: record, reason: reason))
  }
}
