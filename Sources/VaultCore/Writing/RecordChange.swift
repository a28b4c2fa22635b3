internal import VaultSealing

/// One change of one record with its sealed value, as it waits in the ``WriteQueue``.
///
/// Made on the thread of the caller, which seals the value there, so that what waits is sealed. The caller also decides
/// the spelling of the names, the class that a new record gets, and how many earlier values are kept. The rest depends
/// on other writers, who may come first, and is decided under the lock of the file, by the thread that commits: whether
/// the record exists, whether its revision is the expected one, its class if it keeps it, and its history.
///
///     caller                    the thread that commits
///     seals the value
///     RecordChange ──▶ queue ──▶ upToDate: expected revision, class; opens and seals again what was sealed
///                                  with an older key or for another class, and copies of other records
///                                events: what the log gets, before the write
///                                entryBody: the fields of the old record that stay; its value becomes an
///                                  earlier one, which is opened and sealed as such
///
/// Values that are opened there are in guarded memory, and are wiped.
///
/// A class, because a batch passes through several arrays: copying the fields would retain each of them. It is never
/// changed; what is brought up to date is a new one.
package final class RecordChange: Sendable {
  enum Operation: Sendable {
    /// A new value. With `keepsClass` the record keeps its class; the value is sealed for the class at the time of the
    /// call.
    case put(SealedValue, keepsClass: Bool)
    case remove(HowRemoved)
    /// Changes the metadata and keeps the value.
    case edit
    /// Makes the earlier value of this revision the current one, also of a removed record. With `moves` it is not also
    /// kept as an earlier one, so that no other one makes room for it.
    case restore(UInt64, moves: Bool = false)
    /// Makes the record a copy of a different one. ``GroupContent/upToDate(_:_:deviceKey:_:)`` replaces it by `copied`.
    case copy(CopyRequest)
    /// A copy, sealed for this record's name.
    case resealed(ResealedRecord)
  }

  /// What a removal leaves.
  enum HowRemoved: Sendable, Hashable {
    /// The record and its earlier values are gone.
    case atOnce
    /// The record can be restored for this time, in milliseconds.
    case kept(for: Int64)
    /// The record was removed elsewhere, with these times.
    case keptAs(Removal)
  }

  let address: RecordAddress
  let operation: Operation
  let edit: RecordEdit
  /// The revision that the record must have; 0 if the record must not exist; `nil` for any.
  let expected: UInt64?
  /// The times that the record gets; `nil` for those of the write.
  let times: RecordTimes?
  /// How the transaction removes the record before this change sets it; `nil` if it does not. The change then makes a
  /// new record, which has nothing of the old one, or after a kept removal only its history.
  let earlierRemoval: HowRemoved?

  init(
    _ address: RecordAddress, _ operation: Operation, _ edit: RecordEdit = RecordEdit(),
    ifRevision expected: UInt64? = nil, after earlierRemoval: HowRemoved? = nil, times: RecordTimes? = nil
  ) {
    self.address = address
    self.operation = operation
    self.edit = edit
    self.expected = expected
    self.earlierRemoval = earlierRemoval
    self.times = times
  }

  /// How the change removes the record that has its name; `nil` if it does not.
  var removal: HowRemoved? { if case .remove(let removal) = operation { removal } else { earlierRemoval } }

  /// Whether the change removes the record `old`, or what is kept of it. A removal that keeps a record does not change
  /// one that is removed already.
  func removes(_ old: Record?) -> Bool {
    guard let removal, let old else { return false }
    return removal == .atOnce || !old.isRemoved
  }

  /// Whether an entry has the change. A removal of what is not there is omitted.
  func isWritten(over old: Record?) -> Bool { if case .remove = operation { removes(old) } else { true } }

  /// The approximate size of the change in an entry, in bytes.
  var cost: Int {
    let names =
      address.service.utf8.count + address.key.utf8.count + 64 + edit.items.reduce(0) { $0 + $1.data.count + 6 }
    return switch operation {
    case .put(let value, _): names + value.bytes.count
    case .copy: names + CopyRequest.cost
    case .resealed(let record): names + record.sealed.count + (record.extensionField?.count ?? 0)
    case .edit, .restore: names
    // What is kept has a value of no bytes in place of the newest, and two more items.
    case .remove: names + 128
    }
  }
}

extension GroupContent {
  /// Writes `changes` as the body of the next entry (`Docs/Format.md` 3.7). A removal of an absent record is omitted,
  /// and so is the removal of a removed record that keeps it. A new value keeps the fields that 3.6 and 3.8 name.
  ///
  /// - Parameters:
  ///   - changes: of different records, in any order.
  ///   - now: milliseconds since 1970-01-01 UTC.
  /// - Returns: The body, which holds names and is wiped when it is released; `nil` if there is nothing to change.
  func entryBody(_ changes: [RecordChange], now: Int64, sealer: Sealer) throws(VaultError) -> WipedBuffer? {
    let old = changes.map { findStored($0.address) }
    var order = changes.indices.filter { changes[$0].isWritten(over: old[$0]) }
    guard !order.isEmpty else { return nil }
    Self.sort(&order, of: changes)
    let next = try nextGeneration
    var writer = ByteWriter()
    defer { writer.bytes.wipe() }
    // Reserved at once, because growing would leave copies that are not wiped.
    // A value that is kept, or made current again, comes from the extension of the record.
    let carried = old.reduce(0) {
      $0 + ($1.map { 2 * $0.extensionField.byteCount + $0.sealedValue.byteCount + 64 } ?? 0)
    }
    let reserved = order.reduce(64 + carried) { $0 + changes[$1].cost }
    writer.bytes.reserveCapacity(reserved)
    writer.integer(next)
    writer.integer(UInt32(order.count))
    for index in order {
      try write(changes[index], changes[index].earlierRemoval == .atOnce ? nil : old[index], now, to: &writer, sealer)
    }
    assert(writer.count <= reserved, "an entry of \(writer.count) bytes has grown beyond \(reserved)")
    return WipedBuffer(copying: writer.bytes.bytes)
  }

  private func write(
    _ change: RecordChange, _ old: Record?, _ now: Int64, to writer: inout ByteWriter, _ sealer: Sealer
  ) throws(VaultError) {
    var isGone = false
    if case .remove(.atOnce) = change.operation { isGone = true }
    writer.integer(UInt8(isGone ? 2 : 1))
    writer.lp16(change.address.service.utf8)
    writer.lp16(change.address.key.utf8)
    guard !isGone else { return }
    let (kind, accessibility, sealed) = try newValue(of: change, old, sealer)
    writer.integer(kind)
    writer.integer(accessibility.rawValue)
    writer.integer(UInt16(0))
    writer.integer(
      change.times?.created ?? change.created ?? (change.makesNew(insteadOf: old) ? nil : old?.created) ?? now)
    writer.integer(change.times?.modified ?? now)
    writer.integer(generation + 1)
    writer.lp32(sealed)
    var field = try RecordExtension(of: change, old, in: self, now: now, sealer).field()
    writer.lp32(field)
    field.wipe()
  }

  /// Checks the change against the present records and adapts it to the present keys.
  ///
  /// The value was sealed at the time of the call. If the group's key was rotated since, or the record has a different
  /// class, it is sealed again (`Docs/Decisions/0031`). Keys are compared, not epochs: a copy of the vault that was
  /// rotated separately has the same epochs and different keys.
  ///
  /// - Parameter stored: the record of that name in the file, even if it is removed. Conditions treat a removed record
  ///   as absent.
  /// - Throws: ``VaultError/Code/conflict``, ``VaultError/Code/notFound`` or ``VaultError/Code/deviceKeyMissing``, if
  ///   the change cannot be made.
  func upToDate(
    _ change: RecordChange, _ stored: Record?, deviceKey: SealingKey?, _ sealer: Sealer
  ) throws(VaultError) -> RecordChange {
    let old = stored.flatMap { $0.isRemoved ? nil : $0 }
    if let expected = change.expected, expected != old?.revision ?? 0 { throw .conflict }
    switch change.operation {
    case .remove, .resealed: return change
    case .copy(let copy):
      return RecordChange(
        change.address, .resealed(try copied(copy, change.edit, change.address, stored, deviceKey: deviceKey, sealer)))
    case .edit:
      guard old != nil else { throw VaultError.noSuchRecord }
      return change
    case .restore(let revision, _):
      guard let stored, try stored.previous(revision) != nil else {
        throw VaultError(.notFound, "there is no such record, or it has no earlier value of that revision")
      }
      return change
    case .put(let value, let keepsClass):
      let kept = change.earlierRemoval == nil ? old?.accessibility : nil
      let present = keepsClass ? kept ?? .whenUnlocked : value.cipher.accessibility
      let cipher = try cipher(present, sealer)
      if cipher.classKey.isEqual(to: value.cipher.classKey) { return change }
      let moved = try value.moved(to: cipher, change.address, deviceKey: deviceKey, sealer)
      return RecordChange(
        change.address, .put(moved, keepsClass: keepsClass), change.edit, ifRevision: change.expected,
        after: change.earlierRemoval, times: change.times)
    }
  }

  /// The kind, class and sealed value of a record after a change.
  private func newValue(
    of change: RecordChange, _ old: Record?, _ sealer: Sealer
  ) throws(VaultError) -> (UInt8, Vault.Accessibility, [UInt8]) {
    if case .put(let value, _) = change.operation { return (value.kind, value.cipher.accessibility, value.bytes) }
    if case .resealed(let record) = change.operation { return (record.kind, record.accessibility, record.sealed) }
    guard let old else { throw VaultError.noSuchRecord }
    if case .remove = change.operation {
      return (ValueKind.data.rawValue, old.accessibility, try sealedEmptyValue(of: old, sealer))
    }
    guard case .restore(let revision, _) = change.operation else {
      return (old.kind, old.accessibility, old.sealedValue.copy)
    }
    guard let kept = try old.previous(revision) else {
      throw VaultError(.notFound, "the record has no earlier value of that revision")
    }
    let name = old.name
    let sealed = try reseal(
      kept.sealed, old.accessibility,
      from: .previous(service: name.service, key: name.key, kind: kept.kind, revision: revision),
      to: .value(service: name.service, key: name.key, kind: kept.kind), class: old.accessibility, sealer)
    return (kept.kind, old.accessibility, sealed)
  }

  /// Sorts positions by the names of their changes. The names are first copied into one buffer: comparing them in place
  /// retains and releases both arrays in each comparison, which costs more than sealing the values. No name contains
  /// the byte 0, which ends the service, so that one comparison orders both parts.
  private static func sort(_ order: inout [Int], of changes: [RecordChange]) {
    guard order.count > 1 else { return }
    var names = ByteWriter()
    names.bytes.reserveCapacity(
      changes.reduce(0) { $0 + $1.address.service.utf8.count + $1.address.key.utf8.count + 1 })
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(changes.count)
    for change in changes {
      let start = names.count
      names.raw(change.address.service.utf8)
      names.integer(UInt8(0))
      names.raw(change.address.key.utf8)
      ranges.append(start..<names.count)
    }
    // A pointer, because a closure cannot capture a span. It is not used after the call.
    unsafe names.bytes.withUnsafeBytes { bytes in
      order.sort { a, b in
        let (x, y) = unsafe (bytes[ranges[a]], bytes[ranges[b]])
        return compareBytes(
          unsafe UnsafeRawBufferPointer(rebasing: x).bytes, unsafe UnsafeRawBufferPointer(rebasing: y).bytes) < 0
      }
    }
    names.bytes.wipe()
  }

  /// The value of a record once it is removed and kept: empty, and without a device layer, because a removal needs no
  /// device key.
  private func sealedEmptyValue(of record: Record, _ sealer: Sealer) throws(VaultError) -> [UInt8] {
    let key = try classKey(record.accessibility, sealer)
    sealer.bind(to: Self.emptyValue(of: record))
    let nothing: [UInt8] = []
    return sealer.seal(nothing.bytes, with: key)
  }

  /// Whether the empty value of a removed record opens.
  func opensRemoved(_ record: Record, _ sealer: Sealer) throws(VaultError) -> Bool {
    let key = try classKey(record.accessibility, sealer)
    sealer.bind(to: Self.emptyValue(of: record))
    return try sealer.withOpened(record.sealedValue, with: key) { _ in } != nil
  }

  @_lifetime(borrow record)
  private static func emptyValue(of record: borrowing Record) -> Context {
    let name = record.name
    return .value(service: name.service, key: name.key, kind: ValueKind.data.rawValue)
  }

  /// The current value of a record as an earlier value of a record of `class`.
  func previousItem(of old: Record, class: Vault.Accessibility, _ sealer: Sealer) throws(VaultError) -> [UInt8] {
    let name = old.name
    let sealed = try reseal(
      old.sealedValue, old.accessibility, from: .value(service: name.service, key: name.key, kind: old.kind),
      to: .previous(service: name.service, key: name.key, kind: old.kind, revision: old.revision), class: `class`,
      sealer)
    return PreviousValue.item(revision: old.revision, modified: old.modified, kind: old.kind, sealed: sealed)
  }

  /// An earlier value as one of a record of `class`.
  func previousItem(
    _ kept: borrowing PreviousValue, of old: Record, class: Vault.Accessibility, _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    var sealed = kept.sealed.copy
    if `class` != old.accessibility {
      let name = old.name
      let place = Context.previous(service: name.service, key: name.key, kind: kept.kind, revision: kept.revision)
      sealed = try reseal(kept.sealed, old.accessibility, from: place, to: place, class: `class`, sealer)
    }
    return PreviousValue.item(revision: kept.revision, modified: kept.modified, kind: kept.kind, sealed: sealed)
  }

  /// Seals a value for a different context, or for a different class with the same layers. An inner device layer is not
  /// changed.
  private func reseal(
    _ sealed: RawSpan, _ oldClass: Vault.Accessibility, from old: borrowing Context, to new: borrowing Context,
    class newClass: Vault.Accessibility,
    _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    try sealer.resealed(
      sealed, from: try classKey(oldClass, sealer), old, to: try classKey(newClass, sealer), new)
  }
}

extension VaultError {
  static let conflict = VaultError(.conflict, "the record does not have the expected revision")
}

extension SealedValue {
  /// The same value, sealed for a different key or class.
  fileprivate func moved(
    to cipher: ValueCipher, _ address: RecordAddress, deviceKey: SealingKey?, _ sealer: Sealer
  ) throws(VaultError) -> SealedValue {
    let name = address.name
    if cipher.accessibility.isThisDeviceOnly == self.cipher.accessibility.isThisDeviceOnly {
      // The device layer, if there is one, is not changed.
      let context = Context.value(service: name.service, key: name.key, kind: kind)
      return SealedValue(
        kind: kind, cipher: cipher,
        bytes: try sealer.resealed(bytes.bytes, from: self.cipher.classKey, context, to: cipher.classKey, context))
    }
    return SealedValue(
      kind: kind, cipher: cipher,
      bytes: try self.cipher.resealed(bytes.bytes, kind, to: cipher, of: name, for: name, deviceKey: deviceKey, sealer))
  }
}

extension Sealer {
  /// Opens a value in locked memory and seals it for a different key or context.
  /// - Throws: ``VaultError/Code/tampered`` if it does not open.
  func resealed(
    _ sealed: RawSpan, from oldKey: SealingKey, _ old: borrowing Context, to newKey: SealingKey,
    _ new: borrowing Context
  ) throws(VaultError) -> [UInt8] {
    var out: [UInt8] = []
    bind(to: old)
    let isOpen = try withOpened(sealed, with: oldKey) { value in
      bind(to: new)
      out = seal(value, with: newKey)
    }
    guard isOpen != nil else { throw .tampered("a value does not verify") }
    return out
  }
}
