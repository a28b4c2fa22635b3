internal import VaultSealing

/// The changes that bring the records of writes back, from what they were before and after them.
struct WriteReversal {
  let revisions: ClosedRange<UInt64>
  let values: ValueLocator
  let current: GroupContent
  let removal: RecordChange.HowRemoved
  /// The history depth of a record that has none, so that what the writes have stored is kept.
  let depth: UInt16?
  let now: Int64
  private(set) var undone = UndoneWrite()
  /// The records that the writes have put and that exist, or are kept as removed ones.
  private var put: [(info: RecordInfo, record: Record)] = []
  /// Those of them whose names had no record before, or one that was made at another time.
  private var moved: [(info: RecordInfo, record: Record)] = []

  init(
    revisions: ClosedRange<UInt64>, values: ValueLocator, current: GroupContent, removal: RecordChange.HowRemoved,
    depth: UInt16?, now: Int64
  ) {
    self.revisions = revisions
    self.values = values
    self.current = current
    self.removal = removal
    self.depth = depth
    self.now = now
  }

  mutating func run() throws(VaultError) {
    var gone: [(info: RecordInfo, record: Record)] = []
    try values.after.forEachStored { (record) throws(VaultError) in
      guard revisions.contains(record.revision) else { return }
      let info = try RecordInfo(record)
      put.append((info, record))
      let old = values.before.findStored(RecordAddress(info.service, info.key))
      if old.map({ $0.isRemoved || $0.created != record.created }) ?? true { moved.append((info, record)) }
    }
    try values.before.forEachStored { (record) throws(VaultError) in
      let info = try RecordInfo(record)
      guard values.after.findStored(RecordAddress(info.service, info.key)) == nil else { return }
      if !record.isRemoved { return gone.append((info, record)) }
      // What was removed long ago is dropped by any write.
      if try !record.isDue(at: now) { undone.leave(info, .removedForGood) }
    }
    for (info, record) in put { try reverse(info, record) }
    for (info, record) in gone { try bringBack(info, record) }
  }

  /// Reverses the change of a record that exists after the writes, or is kept as a removed one.
  private mutating func reverse(_ new: RecordInfo, _ record: Record) throws(VaultError) {
    let address = RecordAddress(new.service, new.key)
    guard current.findStored(address)?.revision == new.revision else { return undone.leave(new, .changedSince) }
    guard let old = values.before.findStored(address), !old.isRemoved else {
      // It was absent. What was absent and is absent again, such as a removed key of an archive, needs nothing.
      guard !record.isRemoved else { return undone.leave(new, .removedAlready) }
      undone.removed.append(new)
      let (removal, edit) = try removedAgain(values.before.findStored(address), new)
      return undone.changes.append(RecordChange(address, .remove(removal), edit, ifRevision: new.revision))
    }
    guard record.accessibility == old.accessibility else { return undone.leave(new, .changedClass) }
    let before = try RecordInfo(old)
    let expected = record.isRemoved ? 0 : new.revision
    switch try values.place(of: old, in: record) {
    case .current:
      var edit = before.asEdit
      edit.historyDepth = before.storedHistoryDepth.map { .set($0) } ?? .remove
      undone.edited.append(new)
      undone.changes.append(RecordChange(address, .edit, edit, ifRevision: expected))
      if new.previous.count < before.previous.count { undone.leave(new, .droppedValues) }
    case .earlier(let revision):
      var edit = before.asEdit
      if !record.isRemoved { edit.defaultHistoryDepth = depth }
      // What one write has set ends with it, such as the number of a rotation. Several have stored more values.
      if let kept = before.storedHistoryDepth, kept != new.storedHistoryDepth, revisions.count == 1 {
        edit.historyDepth = .set(max(kept, 1))
        if kept == 0, !record.isRemoved { undone.leave(new, .keepsUndone) }
      }
      undone.restored.append(new)
      undone.changes.append(RecordChange(address, .restore(revision, moves: true), edit, ifRevision: expected))
      if !record.isRemoved, new.previous.count < before.previous.count { undone.leave(new, .droppedValues) }
    case nil:
      // It can have been moved before another one got its name.
      guard let copy = try copy(of: before, old, replacing: true) else { return undone.leave(new, .noEarlierValue) }
      undone.restored.append(new)
      undone.changes.append(RecordChange(address, .copy(copy), before.asEdit, ifRevision: expected))
    }
  }

  /// How a record is removed whose name another one had, which was removed: as that one, whose values are behind the
  /// value that is undone.
  private mutating func removedAgain(
    _ old: Record?, _ new: RecordInfo
  ) throws(VaultError) -> (RecordChange.HowRemoved, RecordEdit) {
    guard let old, let before = try old.removal(), try !old.isDue(at: now) else { return (removal, RecordEdit()) }
    let info = try RecordInfo(old)
    // A value that the write has restored is the newest as it was before.
    if new.previous.contains(where: { $0.revision == info.previous.first?.revision }) {
      undone.leave(new, .removedBefore)
    }
    var edit = info.asEdit
    // One value more than before, so that none is dropped.
    if let depth = new.storedHistoryDepth { edit.historyDepth = .set(depth) }
    return (.keptAs(before), edit)
  }

  /// Brings a record back that is gone: one that was moved, under its old name.
  private mutating func bringBack(_ old: RecordInfo, _ record: Record) throws(VaultError) {
    let address = RecordAddress(old.service, old.key)
    guard let copy = try copy(of: old, record, replacing: false) else { return undone.leave(old, .removedForGood) }
    guard current.findStored(address) == nil, current.findStored(copy.source)?.revision == copy.expected else {
      return undone.leave(old, .changedSince)
    }
    undone.restored.append(old)
    var edit = old.asEdit
    edit.historyDepth = old.storedHistoryDepth.map { .set($0) } ?? .remove
    undone.changes.append(RecordChange(address, .copy(copy), edit))
  }

  /// A copy of the record that has the value of `old` under another name now; `nil` if there is none.
  ///
  /// A copy of a record has the time of creation of its source, which no other write gives to a record with a new name.
  private func copy(of old: RecordInfo, _ record: Record, replacing replaces: Bool) throws(VaultError) -> CopyRequest? {
    // A replaced record was moved first: not to a name that had its own record before. There can be very many of those.
    for (moved, candidate) in replaces ? moved : put
    where moved.created == old.created && moved.accessibility == old.accessibility
      && (moved.service, moved.key) != (old.service, old.key)
    {
      guard let place = try values.place(of: record, in: candidate) else { continue }
      let revision: UInt64? = if case .earlier(let revision) = place { revision } else { nil }
      return CopyRequest(
        source: RecordAddress(moved.service, moved.key), expected: moved.revision, revision: revision,
        revisions: Set(old.previous.map(\.revision)), replaces: replaces, keptValues: replaces ? max(depth ?? 0, 1) : 0)
    }
    return nil
  }
}

/// Finds out where a value that a record had before is kept now.
///
/// The revision of an earlier value does not say it: a change of metadata gives the record a new one, and a copy has
/// those of its source.
struct ValueLocator {
  enum Place {
    case current
    /// The revision of the earlier value.
    case earlier(UInt64)
  }

  let before: GroupContent
  let after: GroupContent
  private let sealers: (before: Sealer, after: Sealer)
  private let reader: ValueOpener

  init(
    _ write: (before: VaultState, after: VaultState), of group: Vault.Identifier, _ options: Vault.Options
  ) throws(VaultError) {
    before = try write.before.content(group)
    after = try write.after.content(group)
    sealers = (write.before.sealer, write.after.sealer)
    reader = try ValueOpener(options)
  }

  /// - Parameters:
  ///   - old: a record from before.
  ///   - new: a record from after, of the same class, perhaps removed or of another name.
  /// - Returns: The newest place; `nil` if the record does not keep the value, or that is not known, because the device
  ///   key is missing.
  func place(of old: Record, in new: Record) throws(VaultError) -> Place? {
    let hasSameName =
      compareBytes(old.name.service, new.name.service) == 0 && compareBytes(old.name.key, new.name.key) == 0
    let cipher = try after.cipher(new.accessibility, sealers.after)
    if !new.isRemoved, new.kind == old.kind, new.sealedValue.byteCount == old.sealedValue.byteCount {
      if hasSameName, compareBytes(new.sealedValue, old.sealedValue) == 0 { return .current }
      if try isEqual(old, new, { ValueOpener.CopiedValue(new, with: cipher, by: reader) }) { return .current }
    }
    var fields = Extension.Items(new.extensionField)
    while let item = try fields.next() {
      guard item.tag == Extension.RecordTag.previous else { continue }
      let value = try PreviousValue(item.data)
      let revision = value.revision
      if hasSameName, revision == old.revision { return .earlier(revision) }
      guard value.kind == old.kind, value.sealed.byteCount == old.sealedValue.byteCount else { continue }
      let isSame = try isEqual(old, new) { () throws(VaultError) in
        guard let value = try new.previous(revision) else { throw .tampered("an earlier value is gone") }
        return ValueOpener.CopiedValue(value, with: cipher, by: reader)
      }
      if isSame { return .earlier(revision) }
    }
    return nil
  }

  /// - Parameter other: copies the other value to be opened.
  private func isEqual(
    _ old: Record, _ new: Record, _ other: () throws(VaultError) -> ValueOpener.CopiedValue
  ) throws(VaultError) -> Bool {
    do throws(VaultError) {
      let cipher = try before.cipher(old.accessibility, sealers.before)
      var opened: Result<SecretBytes, VaultError>?
      try ValueOpener.CopiedValue(old, with: cipher, by: reader).open(old.name) { value in
        opened = Result { () throws(VaultError) in try SecretBytes(copying: value) }
      }
      var isEqual = false
      let wanted = try opened?.get()
      try other().open(new.name) { value in isEqual = wanted?.isEqual(to: value) ?? false }
      return isEqual
    } catch {
      guard [.deviceKeyMissing, .wrongDevice].contains(error.code) else { throw error }
      return false
    }
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
}
