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
  /// A record that the write made is removed, as ``Options/keeping`` says. A record whose value it replaced gets the
  /// earlier value back, if that is kept, and one that it removed exists again, unless it was removed for good. A
  /// record that it moved has its old name again. Label, comment, attributes and expiry are as before.
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
        revisions: revisions, before: try write.before.content(group.id), after: try write.after.content(group.id),
        current: try state.content(group.id), removal: undoingRemoval, depth: options.keeping.defaultDepth,
        now: options.now())
      try reversal.run()
      return reversal.undone
    }
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
            RecordChange(address, .restore(earlier), edit, ifRevision: record.isRemoved ? 0 : revision))
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
    case changedClass = "its accessibility was changed"
    /// The metadata is brought back, and earlier values that the write dropped are gone.
    case droppedValues = "its dropped earlier values are gone"
  }

  package struct Left: Sendable {
    package let record: RecordInfo
    package let reason: Reason
  }

  /// Whether the journal no longer has the write, so that the history had to say what it did.
  package fileprivate(set) var isDerived = false
  fileprivate(set) var changes: [RecordChange] = []
  /// The records that get an earlier value or their old name again.
  package fileprivate(set) var restored: [RecordInfo] = []
  /// The records that the write had made.
  package fileprivate(set) var removed: [RecordInfo] = []
  /// The records of which the write has changed the metadata only.
  package fileprivate(set) var edited: [RecordInfo] = []
  package fileprivate(set) var left: [Left] = []

  fileprivate mutating func leave(_ record: RecordInfo, _ reason: Reason) {
    left.append(Left(record: record, reason: reason))
  }
}

/// The writes that the journal of a stored vault has.
private struct StoredWrites {
  private let image: FileImage
  private let entries: [JournalFrame.Entry]
  private let whole: VaultState
  private let load: (FileImage) throws(VaultError) -> VaultState

  init(of handle: VaultHandle) throws(VaultError) {
    let unlocked = try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked }
    let (storage, options) = (handle.storage, handle.options)
    let load = { (image: FileImage) throws(VaultError) -> VaultState in
      try VaultState(
        image, version: nil, storage: storage, options: options, sealer: try Sealer(random: options.random)
      ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    }
    let (image, whole) = try VaultState.retryingDamage { () throws(VaultError) in
      let image = try storage.loadImage(options.limits).image
      return (image, try load(image))
    }
    let frame = try JournalFrame(image.span, from: whole.snapshot.count, groups: whole.groupIDs)
    self.image = image
    self.whole = whole
    self.load = load
    entries = frame.entries
  }

  func last(in group: Vault.Identifier?) throws(VaultError) -> (group: AccessGroup, revision: UInt64)? {
    let isMeant = { (entry: JournalFrame.Entry) in
      group.map { $0 == entry.group } ?? (whole.group(entry.group) != nil)
    }
    guard let entry = entries.last(where: { isMeant($0) }) else { return nil }
    let content = try whole.content(entry.group)
    return (AccessGroup(id: content.id, name: content.name), content.generation)
  }

  /// The vault before and after the entries that made revisions of a group; `nil` if there is not one for each.
  func write(
    _ revisions: ClosedRange<UInt64>, of group: Vault.Identifier
  ) throws(VaultError) -> (before: VaultState, after: VaultState)? {
    let own = entries.filter { $0.group == group }
    // Each entry is one generation.
    let first = try whole.content(group).generation - UInt64(own.count)
    guard revisions.lowerBound > first, revisions.upperBound - first <= UInt64(own.count) else { return nil }
    let entry = { (revision: UInt64) in own[Int(revision - first) - 1].range }
    let part = { (end: Int) throws(VaultError) in try load(FileImage(copying: image[0..<end])) }
    return (try part(entry(revisions.lowerBound).lowerBound), try part(entry(revisions.upperBound).upperBound))
  }
}

/// The changes that bring the records of writes back, from what they were before and after them.
private struct WriteReversal {
  let revisions: ClosedRange<UInt64>
  let before: GroupContent
  let after: GroupContent
  let current: GroupContent
  let removal: RecordChange.HowRemoved
  /// The history depth of a record that has none, so that what the write has stored is kept.
  let depth: UInt16?
  let now: Int64
  var undone = UndoneWrite()
  /// The records that the write has put.
  private var put: [RecordInfo] = []

  init(
    revisions: ClosedRange<UInt64>, before: GroupContent, after: GroupContent, current: GroupContent,
    removal: RecordChange.HowRemoved, depth: UInt16?, now: Int64
  ) {
    self.revisions = revisions
    self.before = before
    self.after = after
    self.current = current
    self.removal = removal
    self.depth = depth
    self.now = now
  }

  mutating func run() throws(VaultError) {
    var gone: [RecordInfo] = []
    try after.forEachStored { (record) throws(VaultError) in
      if revisions.contains(record.revision) { put.append(try RecordInfo(record)) }
    }
    try before.forEachStored { (record) throws(VaultError) in
      let info = try RecordInfo(record)
      guard after.findStored(RecordAddress(info.service, info.key)) == nil else { return }
      if !record.isRemoved { return gone.append(info) }
      // What was removed long ago is dropped by any write.
      if try !record.isDue(at: now) { undone.leave(info, .removedForGood) }
    }
    for info in put { try reverse(info) }
    for info in gone { try bringBack(info) }
  }

  /// Reverses the change of a record that exists after the write, or is kept as a removed one.
  private mutating func reverse(_ new: RecordInfo) throws(VaultError) {
    let address = RecordAddress(new.service, new.key)
    guard let record = after.findStored(address), let now = current.findStored(address),
      now.revision == new.revision
    else {
      return undone.leave(new, .changedSince)
    }
    let old = before.findStored(address)
    guard let old, !old.isRemoved else {
      // It was absent. What was absent and is absent again, such as a removed key of an archive, needs nothing.
      guard !record.isRemoved else { return undone.leave(new, .removedForGood) }
      undone.removed.append(new)
      return undone.changes.append(RecordChange(address, .remove(removal), ifRevision: new.revision))
    }
    let before = try RecordInfo(old)
    guard !record.isRemoved else {
      guard let kept = new.previous.first, kept.revision == before.revision else {
        return undone.leave(new, .noEarlierValue)
      }
      undone.restored.append(new)
      return undone.changes.append(RecordChange(address, .restore(kept.revision), before.asEdit, ifRevision: 0))
    }
    guard new.accessibility == before.accessibility else { return undone.leave(new, .changedClass) }
    if record.kind == old.kind, compareBytes(record.sealedValue, old.sealedValue) == 0 {
      var edit = before.asEdit
      edit.historyDepth = before.storedHistoryDepth.map { .set($0) } ?? .remove
      undone.edited.append(new)
      undone.changes.append(RecordChange(address, .edit, edit, ifRevision: new.revision))
      if new.previous.count < before.previous.count { undone.leave(new, .droppedValues) }
    } else if new.previous.contains(where: { $0.revision == before.revision }) {
      var edit = before.asEdit
      edit.defaultHistoryDepth = depth
      // What one write has set ends with it, such as the number of a rotation. Several have stored more values.
      if let kept = before.storedHistoryDepth, kept != new.storedHistoryDepth, revisions.count == 1 {
        edit.historyDepth = .set(kept)
      }
      undone.restored.append(new)
      undone.changes.append(RecordChange(address, .restore(before.revision), edit, ifRevision: new.revision))
    } else {
      undone.leave(new, .noEarlierValue)
    }
  }

  /// Brings a record back that is gone: one that was moved, under its old name.
  private mutating func bringBack(_ old: RecordInfo) throws(VaultError) {
    let address = RecordAddress(old.service, old.key)
    guard let moved = put.first(where: { old.isMoved(to: $0) }) else { return undone.leave(old, .removedForGood) }
    let source = RecordAddress(moved.service, moved.key)
    guard current.findStored(address) == nil, current.findStored(source)?.revision == moved.revision else {
      return undone.leave(old, .changedSince)
    }
    undone.restored.append(old)
    let copy = RecordCopy(source: source, expected: moved.revision, replaces: false, keptValues: 0)
    undone.changes.append(RecordChange(address, .copy(copy)))
  }
}

extension RecordInfo {
  /// The edit that gives a record the metadata of this one.
  fileprivate var asEdit: RecordEdit {
    var edit = RecordEdit()
    edit.label = label.map { .set($0) } ?? .remove
    edit.comment = comment.map { .set($0) } ?? .remove
    edit.expiry = expiry.map { .set($0) } ?? .remove
    edit.attributes = attributes.isEmpty ? .remove : .set(attributes)
    return edit
  }

  /// Whether `new` can be this record under a different name: a copy has the time of creation of its source, which no
  /// other write gives to a record with a new value.
  fileprivate func isMoved(to new: RecordInfo) -> Bool {
    new.created == created && new.created != new.modified && new.kind == kind && new.accessibility == accessibility
      && new.label == label && new.comment == comment && new.expiry == expiry && new.attributes == attributes
  }
}
