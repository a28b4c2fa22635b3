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
      let (removal, edit) = try removedAgain(values.before.findStored(address), new, record)
      return undone.changes.append(RecordChange(address, .remove(removal), edit, ifRevision: new.revision))
    }
    guard record.accessibility == old.accessibility else { return undone.leave(new, .changedClass) }
    let before = try RecordInfo(old)
    let expected = record.isRemoved ? 0 : new.revision
    // How many earlier values it keeps: the undone value is one in place of the one that comes back. A removed record
    // has no value that is undone.
    let kept = new.previous.count - (record.isRemoved ? 1 : 0)
    switch try values.place(of: old, in: record) {
    case .current:
      let edit = edit(new, to: before, keeping: kept)
      undone.edited.append(new)
      undone.changes.append(RecordChange(address, .edit, edit, ifRevision: expected))
      try nameDropped(new, of: old, in: record)
    case .earlier(let revision):
      let edit = edit(new, to: before, keeping: kept)
      undone.restored.append(new)
      undone.changes.append(RecordChange(address, .restore(revision, moves: true), edit, ifRevision: expected))
      try nameDropped(new, of: old, in: record)
    case nil:
      // It can have been moved before another one got its name, all of whose values are kept.
      guard let (copy, source) = try copy(of: before, old, replacing: true) else {
        return undone.leave(new, .noEarlierValue)
      }
      let edit = edit(new, to: before, keeping: before.previous.count + kept + 1)
      undone.restored.append(new)
      undone.changes.append(RecordChange(address, .copy(copy), edit, ifRevision: expected))
      try nameDropped(new, of: old, in: source)
    }
  }

  /// The edit that gives a record the metadata from before. What the writes have set ends with them, such as the number
  /// of a rotation; but a record that is to keep more earlier values than before gets a history depth for them, and is
  /// named.
  private mutating func edit(_ new: RecordInfo, to before: RecordInfo, keeping count: Int) -> RecordEdit {
    var edit = RecordEdit(of: before)
    edit.keepsReplacedDepth = false
    guard count > 0 else { return edit }
    let depth = before.storedHistoryDepth ?? self.depth ?? 0
    edit.historyDepth = .set(max(depth, UInt16(clamping: count)))
    if count > depth { undone.leave(new, .keepsUndone) }
    return edit
  }

  /// Names a record of whose earlier values from before some are gone.
  ///
  /// - Parameter record: the one that has those that are left.
  private mutating func nameDropped(_ new: RecordInfo, of old: Record, in record: Record) throws(VaultError) {
    if try !values.keepsEarlierValues(of: old, in: record) { undone.leave(new, .droppedValues) }
  }

  /// How a record is removed whose name another one had, which was removed: as that one, whose values are behind the
  /// value that is undone.
  private mutating func removedAgain(
    _ old: Record?, _ new: RecordInfo, _ record: Record
  ) throws(VaultError) -> (RecordChange.HowRemoved, RecordEdit) {
    guard let old, let before = try old.removal(), try !old.isDue(at: now) else { return (removal, RecordEdit()) }
    let info = try RecordInfo(old)
    if try !isRestored(old, info, in: record, new) { undone.leave(new, .removedBefore) }
    let edit = edit(new, to: info, keeping: new.previous.count)
    try nameDropped(new, of: old, in: record)
    return (.keptAs(before), edit)
  }

  /// Whether the newest value of a removed record is that of the record now, because it was restored.
  private func isRestored(
    _ old: Record, _ before: RecordInfo, in record: Record, _ new: RecordInfo
  ) throws(VaultError) -> Bool {
    guard let newest = before.previous.first?.revision, !new.previous.contains(where: { $0.revision == newest }),
      case .current? = try values.place(of: old, previous: newest, in: record)
    else { return false }
    return true
  }

  /// Brings a record back that is gone: one that was moved, under its old name.
  private mutating func bringBack(_ old: RecordInfo, _ record: Record) throws(VaultError) {
    let address = RecordAddress(old.service, old.key)
    guard let (copy, source) = try copy(of: old, record, replacing: false) else {
      return undone.leave(old, .removedForGood)
    }
    guard current.findStored(address) == nil, current.findStored(copy.source)?.revision == copy.expected else {
      return undone.leave(old, .changedSince)
    }
    undone.restored.append(old)
    undone.changes.append(RecordChange(address, .copy(copy), RecordEdit(of: old)))
    try nameDropped(old, of: record, in: source)
  }

  /// A copy of the record that has the value of `old` under another name now, and that record; `nil` if there is none.
  ///
  /// A copy of a record has the time of creation of its source, which no other write gives to a record with a new name.
  private func copy(
    of old: RecordInfo, _ record: Record, replacing replaces: Bool
  ) throws(VaultError) -> (request: CopyRequest, source: Record)? {
    // A replaced record was moved first: not to a name that had its own record before. There can be very many of those.
    for (moved, candidate) in replaces ? moved : put
    where moved.created == old.created && moved.accessibility == old.accessibility
      && (moved.service, moved.key) != (old.service, old.key)
    {
      guard let place = try values.place(of: record, in: candidate) else { continue }
      let revision: UInt64? = if case .earlier(let revision) = place { revision } else { nil }
      let request = CopyRequest(
        source: RecordAddress(moved.service, moved.key), expected: moved.revision, revision: revision,
        revisions: Set(old.previous.map(\.revision)), replaces: replaces, keptValues: replaces ? max(depth ?? 0, 1) : 0)
      return (request, candidate)
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
  ///   - revision: the revision of one of its earlier values; `nil` for its value.
  ///   - new: a record from after, perhaps removed or of another name.
  /// - Returns: The newest place; `nil` if the record does not keep the value, or that is not known, because the device
  ///   key is missing.
  func place(of old: Record, previous revision: UInt64? = nil, in new: Record) throws(VaultError) -> Place? {
    let hasSameName =
      compareBytes(old.name.service, new.name.service) == 0 && compareBytes(old.name.key, new.name.key) == 0
    let (kind, count) = try size(of: old, revision)
    if !new.isRemoved, new.kind == kind, new.sealedValue.byteCount == count {
      if revision == nil, hasSameName, compareBytes(new.sealedValue, old.sealedValue) == 0 { return .current }
      if try isEqual(old, revision, new, nil) == true { return .current }
    }
    var fields = Extension.Items(new.extensionField)
    while let item = try fields.next() {
      guard item.tag == Extension.RecordTag.previous else { continue }
      let value = try PreviousValue(item.data)
      let place = value.revision
      guard value.kind == kind, value.sealed.byteCount == count else { continue }
      // One write gives many records the same revision, and a copy can have brought a value of another one here.
      let hasRevision = revision == nil && hasSameName && place == old.revision
      if try isEqual(old, revision, new, place) ?? hasRevision { return .earlier(place) }
    }
    return nil
  }

  /// Whether a record keeps all earlier values of one from before, as its value or as earlier ones.
  ///
  /// - Parameter new: a record from after, perhaps removed or of another name, that also has the value of `old`.
  func keepsEarlierValues(of old: Record, in new: Record) throws(VaultError) -> Bool {
    // Equal values differ by their number alone.
    guard try valueCount(of: new) >= valueCount(of: old) else { return false }
    var fields = Extension.Items(old.extensionField)
    while let item = try fields.next() {
      guard item.tag == Extension.RecordTag.previous else { continue }
      let value = try PreviousValue(item.data)
      let revision = value.revision
      if let kept = try new.previous(revision), compareBytes(kept.sealed, value.sealed) == 0 { continue }
      if try place(of: old, previous: revision, in: new) == nil { return false }
    }
    return true
  }

  /// The number of values that a record has, with the earlier ones.
  private func valueCount(of record: Record) throws(VaultError) -> Int {
    var count = record.isRemoved ? 0 : 1
    var fields = Extension.Items(record.extensionField)
    while let item = try fields.next() { if item.tag == Extension.RecordTag.previous { count += 1 } }
    return count
  }

  /// The kind of a value, and the length of its sealed bytes.
  ///
  /// - Parameter revision: that of an earlier value; `nil` for the value of the record.
  private func size(of record: Record, _ revision: UInt64?) throws(VaultError) -> (kind: UInt8, count: Int) {
    guard let revision else { return (record.kind, record.sealedValue.byteCount) }
    guard let value = try record.previous(revision) else { throw .tampered("an earlier value is gone") }
    return (value.kind, value.sealed.byteCount)
  }

  /// Copies a value to be opened. The parameters are those of ``size(of:_:)``.
  private func copied(
    _ record: Record, _ revision: UInt64?, with cipher: ValueCipher
  ) throws(VaultError) -> ValueOpener.CopiedValue {
    guard let revision else { return ValueOpener.CopiedValue(record, with: cipher, by: reader) }
    guard let value = try record.previous(revision) else { throw .tampered("an earlier value is gone") }
    return ValueOpener.CopiedValue(value, with: cipher, by: reader)
  }

  /// Whether a value from before and one from after are equal; `nil` if that is not known, because the device key is
  /// missing. The revisions are those of ``size(of:_:)``.
  private func isEqual(
    _ old: Record, _ oldRevision: UInt64?, _ new: Record, _ newRevision: UInt64?
  ) throws(VaultError) -> Bool? {
    do throws(VaultError) {
      let cipher = try before.cipher(old.accessibility, sealers.before)
      var opened: Result<SecretBytes, VaultError>?
      try copied(old, oldRevision, with: cipher).open(old.name) { value in
        opened = Result { () throws(VaultError) in try SecretBytes(copying: value) }
      }
      var isEqual = false
      let wanted = try opened?.get()
      let other = try copied(new, newRevision, with: try after.cipher(new.accessibility, sealers.after))
      try other.open(new.name) { value in isEqual = wanted?.isEqual(to: value) ?? false }
      return isEqual
    } catch {
      guard [.deviceKeyMissing, .wrongDevice].contains(error.code) else { throw error }
      return nil
    }
  }
}
