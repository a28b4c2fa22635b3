internal import VaultSealing

/// The extension field of a record after a change (`Docs/Format.md` 3.6, 3.8).
struct RecordExtension {
  private let change: RecordChange
  /// The record before the change, even if it is removed; `nil` if nothing of it is kept.
  private let old: Record?
  private let content: GroupContent
  private let now: Int64
  private let sealer: Sealer

  init(of change: RecordChange, _ old: Record?, in content: GroupContent, now: Int64, _ sealer: Sealer) {
    self.change = change
    self.old = old
    self.content = content
    self.now = now
    self.sealer = sealer
  }

  /// The bytes of the field. The caller wipes them.
  func field() throws(VaultError) -> [UInt8] {
    if case .resealed(let record) = change.operation { return record.extensionField?.span.copy ?? [] }
    var items = change.edit.items + (try carriedItems())
    var depth = items.first { $0.tag == Extension.RecordTag.depth }?.depth
    if let wanted = try wantedDepth(depth), wanted != depth {
      items.removeAll { $0.tag == Extension.RecordTag.depth }
      items.append(.init(Extension.RecordTag.depth, [UInt8](littleEndian: wanted)))
      depth = wanted
    }
    var kept = Int(depth ?? 0)
    if let removal = change.keptRemoval(at: now) {
      items.append(removal.item)
      // The removed value itself, also of a record without history, and besides a full one.
      kept += 1
    }
    if let old, kept > 0 { items += try earlierValues(of: old, atMost: kept) }
    return items.isEmpty ? [] : Extension.field(wiping: &items)
  }

  /// The history depth of the record.
  /// - Parameter present: what the change sets or the record had; `nil` if that is none.
  private func wantedDepth(_ present: UInt16?) throws(VaultError) -> UInt16? {
    guard change.edit.keepsReplacedDepth, let old else { return present ?? change.defaultDepth }
    return [present, try old.historyDepth() ?? change.defaultDepth].compactMap(\.self).max()
  }

  /// The items of the old record that the change does not concern.
  private func carriedItems() throws(VaultError) -> [Extension.OwnedItem] {
    guard let old, old.extensionField.byteCount > 0 else { return [] }
    let replaced = change.edit.replacedTags
    let isNew = change.makesNew(insteadOf: old)
    let keepsExpiry = try keepsExpiry(of: old)
    var items: [Extension.OwnedItem] = []
    var fields = Extension.Items(old.extensionField)
    while let item = try fields.next() {
      let isCarried =
        switch item.tag {
        case Extension.RecordTag.previous, Extension.RecordTag.removal: false
        case Extension.RecordTag.depth: true
        case Extension.RecordTag.expiry: !isNew && keepsExpiry
        default: !isNew
        }
      if isCarried, !replaced.contains(item.tag) { items.append(.init(item.tag, item.data.copy)) }
    }
    return items
  }

  /// A new value removes the expiry. A removed record gets it back together with the value that it had.
  private func keepsExpiry(of old: Record) throws(VaultError) -> Bool {
    switch change.operation {
    case .edit, .remove: true
    case .restore(let revision, _): old.isRemoved ? try old.newestPrevious() == revision : false
    case .put, .copy, .resealed: false
    }
  }

  /// The value that the change replaces, and the earlier ones, newest first. They move to the new class with the
  /// record. If the device layer is added or removed, they are dropped: sealing them again would need the device key.
  private func earlierValues(of old: Record, atMost depth: Int) throws(VaultError) -> [Extension.OwnedItem] {
    var newClass = old.accessibility
    if case .put(let value, _) = change.operation { newClass = value.cipher.accessibility }
    guard newClass.isThisDeviceOnly == old.accessibility.isThisDeviceOnly else { return [] }
    var items: [Extension.OwnedItem] = []
    if change.replacesValue, !old.isRemoved {
      items.append(.init(Extension.RecordTag.previous, try content.previousItem(of: old, class: newClass, sealer)))
    }
    // What a removed record gets back as its value is no longer an earlier one.
    var restored: UInt64?
    if case .restore(let revision, let moves) = change.operation, moves || old.isRemoved { restored = revision }
    var fields = Extension.Items(old.extensionField)
    while items.count < depth, let item = try fields.next() {
      guard item.tag == Extension.RecordTag.previous else { continue }
      let value = try PreviousValue(item.data)
      if value.revision == restored { continue }
      items.append(.init(item.tag, try content.previousItem(value, of: old, class: newClass, sealer)))
    }
    return items
  }
}

extension RecordChange {
  /// Whether the change makes a new record, which has nothing of the old one but its history.
  func makesNew(insteadOf old: Record?) -> Bool {
    if earlierRemoval != nil { return true }
    if case .put = operation { return old?.isRemoved ?? true }
    return false
  }

  /// Whether the record's value becomes an earlier one.
  fileprivate var replacesValue: Bool { if case .edit = operation { false } else { edit.keepsReplacedValue } }

  /// The removal that is stored with a record that is kept; `nil` if the change does not make it one.
  fileprivate func keptRemoval(at now: Int64) -> Removal? {
    switch operation {
    case .remove(.kept(let duration)): Removal(removed: now, keptFor: duration)
    case .remove(.keptAs(let removal)): removal
    default: nil
    }
  }

  /// The history depth for a record that has none.
  fileprivate var defaultDepth: UInt16? {
    switch operation {
    case .put, .restore: edit.defaultHistoryDepth
    case .remove, .edit, .copy, .resealed: nil
    }
  }
}
