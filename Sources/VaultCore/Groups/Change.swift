internal import VaultSealing

/// One change of one record, its value already sealed: what waits in the queue of writes.
struct Change: Sendable {
  enum Action: Sendable {
    case put(kind: UInt8, Vault.Accessibility, sealed: [UInt8])
    case remove
    /// Leaves the value and changes what is written down about it.
    case edit
    /// Makes the kept value of that revision the current one.
    case restore(UInt64)
  }

  let service: Vault.Name
  let key: Vault.Name
  var action: Action
  var edit = RecordEdit()
  /// Whether a put is for whatever class the record has: sealed for the one it had when this was prepared.
  var keepsClass = false
  /// The revision that the record must have for the change to be made, 0 for a record that must not be there; nil
  /// when any will do.
  var expected: UInt64?

  init(service: Vault.Name, key: Vault.Name, action: Action) {
    (self.service, self.key, self.action) = (service, key, action)
  }

  /// About how much an entry grows by it, in bytes.
  var cost: Int {
    let names = service.utf8.count + key.utf8.count + 64 + edit.items.reduce(0) { $0 + $1.data.count + 6 }
    guard case .put(_, _, let sealed) = action else { return names }
    return names + sealed.count
  }

  func withName<R, E: Error>(_ body: (RecordName) throws(E) -> R) throws(E) -> R {
    try service.utf8.span.bytes.withUnsafeBytes { (service) throws(E) in
      try key.utf8.span.bytes.withUnsafeBytes { (key) throws(E) in
        try body(RecordName(service: service, key: key))
      }
    }
  }
}

extension GroupContent {
  /// Writes `changes` as the body of the next entry (`Docs/Format.md` 3.7). A removal of an absent record is left
  /// out; a put keeps what 3.6 and 3.8 say it keeps.
  ///
  /// - Parameters:
  ///   - changes: of different records, in any order.
  ///   - now: milliseconds since 1970-01-01 UTC.
  /// - Returns: `nil` when nothing is left to change. Holds names, and is wiped as it goes.
  func entryBody(_ changes: [Change], now: Int64, sealer: Sealer) throws(VaultError) -> WipedBuffer? {
    var order = changes.indices.filter { index in
      guard case .remove = changes[index].action else { return true }
      return changes[index].withName { find($0) != nil }
    }
    guard !order.isEmpty else { return nil }
    Self.sort(&order, of: changes)
    guard generation + 1 <= Vault.Limits.generations.upperBound else {
      throw VaultError(.limitExceeded, "the group has used up its generations")
    }
    var writer = ByteWriter()
    // Room for everything at once, so that growing leaves no copy behind that is not wiped.
    let carried = order.reduce(0) { sum, index in
      let old = changes[index].withName { find($0) }
      return sum + (old.map { $0.extensionField.count + $0.sealedValue.count + 64 } ?? 0)
    }
    writer.bytes.reserveCapacity(order.reduce(64 + carried) { $0 + changes[$1].cost })
    writer.integer(generation + 1)
    writer.integer(UInt32(order.count))
    for index in order {
      let change = changes[index]
      let old = change.withName { find($0) }
      if case .remove = change.action {
        writer.integer(UInt8(2))
        writer.lp16(change.service.utf8)
        writer.lp16(change.key.utf8)
        continue
      }
      writer.integer(UInt8(1))
      writer.lp16(change.service.utf8)
      writer.lp16(change.key.utf8)
      let (kind, accessibility, sealed) = try newValue(of: change, old, sealer)
      writer.integer(kind)
      writer.integer(accessibility.rawValue)
      writer.integer(UInt16(0))
      writer.integer(old?.created ?? now)
      writer.integer(now)
      writer.integer(generation + 1)
      writer.lp32(sealed)
      writer.lp32(try newExtension(of: change, old, sealer))
    }
    defer { writer.bytes.wipe() }
    let body = WipedBuffer(count: writer.count)
    body.bytes.copyBytes(from: writer.bytes)
    return body
  }

  /// Why a change cannot be made to the records as they are; nil when it can.
  func refusal(of change: Change) throws(VaultError) -> VaultError? {
    let old = change.withName { find($0) }
    if let expected = change.expected, expected != old?.revision ?? 0 {
      return .conflict
    }
    switch change.action {
    case .put, .remove: return nil
    case .edit: return old == nil ? VaultError(.notFound, "there is no such record") : nil
    case .restore(let revision):
      guard let old, try old.previous(revision) != nil else {
        return VaultError(.notFound, "there is no such record, or it keeps no value of that revision")
      }
      return nil
    }
  }

  /// Kind, class and sealed value that a record has after a change.
  private func newValue(
    of change: Change, _ old: Record?, _ sealer: Sealer
  ) throws(VaultError) -> (UInt8, Vault.Accessibility, [UInt8]) {
    if case .put(let kind, let accessibility, let sealed) = change.action { return (kind, accessibility, sealed) }
    guard let old else { throw VaultError(.notFound, "there is no such record") }
    guard case .restore(let revision) = change.action else {
      return (old.kind, old.accessibility, Array(old.sealedValue))
    }
    guard let kept = try old.previous(revision) else {
      throw VaultError(.notFound, "the record keeps no value of that revision")
    }
    let name = old.name
    let sealed = try reseal(
      kept.sealed, old.accessibility,
      from: .previous(service: name.service, key: name.key, kind: kept.kind, revision: revision),
      to: .value(service: name.service, key: name.key, kind: kept.kind), class: old.accessibility, sealer)
    return (kept.kind, old.accessibility, sealed)
  }

  /// Sorts positions by the names of their changes. The names are laid out side by side first: comparing them where
  /// they are would count references twice for each of the comparisons, which costs more than sealing the values.
  private static func sort(_ order: inout [Int], of changes: [Change]) {
    guard order.count > 1 else { return }
    var names = ByteWriter()
    names.bytes.reserveCapacity(changes.reduce(0) { $0 + $1.service.utf8.count + $1.key.utf8.count })
    var starts: [(service: Int, key: Int, end: Int)] = []
    for change in changes {
      let service = names.count
      names.raw(change.service.utf8)
      let key = names.count
      names.raw(change.key.utf8)
      starts.append((service, key, names.count))
    }
    names.bytes.withUnsafeBytes { bytes in
      func name(_ position: Int) -> RecordName {
        let (service, key, end) = starts[position]
        return RecordName(
          service: UnsafeRawBufferPointer(rebasing: bytes[service..<key]),
          key: UnsafeRawBufferPointer(rebasing: bytes[key..<end]))
      }
      order.sort { name($0) < name($1) }
    }
    names.bytes.wipe()
  }

  /// The extension that a record has after a change: what it had, with the edits; its expiry goes with the value, and
  /// the old value comes in front of the kept ones as far as the history depth goes.
  private func newExtension(
    of change: Change, _ old: Record?, _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    let hasNewValue = if case .edit = change.action { false } else { true }
    var items = change.edit.items
    if let old, old.extensionField.count > 0 {
      var replaced = change.edit.replacedTags
      if hasNewValue { replaced.insert(Extension.RecordTag.expiry) }
      try Extension.forEach(old.extensionField) { (item) throws(VaultError) in
        if item.tag != Extension.RecordTag.previous, !replaced.contains(item.tag) {
          items.append(.init(item.tag, Array(item.data)))
        }
      }
    }
    guard !items.isEmpty else { return [] }
    let depth = items.first { $0.tag == Extension.RecordTag.depth }.map { Int($0.data[0]) | Int($0.data[1]) << 8 } ?? 0
    if let old, depth > 0 {
      var kept = 0
      // Kept values follow the record to a new class. One that loses or gains the device layer drops them: moving
      // them would need the device key.
      var newClass = old.accessibility
      if case .put(_, let accessibility, _) = change.action { newClass = accessibility }
      let isLayerKept = newClass.isThisDeviceOnly == old.accessibility.isThisDeviceOnly
      if hasNewValue, isLayerKept {
        items.append(.init(Extension.RecordTag.previous, try previousItem(of: old, class: newClass, sealer)))
        kept = 1
      }
      try Extension.forEach(old.extensionField) { (item) throws(VaultError) in
        guard item.tag == Extension.RecordTag.previous, kept < depth, isLayerKept else { return }
        let data =
          newClass == old.accessibility
          ? Array(item.data) : try moved(try PreviousValue(item.data), of: old, toClass: newClass, sealer)
        items.append(.init(item.tag, data))
        kept += 1
      }
    }
    return Extension.field(items)
  }

  /// The old value as a previous one of a record of `class`.
  private func previousItem(of old: Record, class: Vault.Accessibility, _ sealer: Sealer) throws(VaultError) -> [UInt8]
  {
    let name = old.name
    let sealed = try reseal(
      old.sealedValue, old.accessibility, from: .value(service: name.service, key: name.key, kind: old.kind),
      to: .previous(service: name.service, key: name.key, kind: old.kind, revision: old.revision), class: `class`,
      sealer)
    return PreviousValue.item(revision: old.revision, modified: old.modified, kind: old.kind, sealed: sealed)
  }

  /// A kept value, sealed for another class.
  private func moved(
    _ kept: PreviousValue, of old: Record, toClass class: Vault.Accessibility, _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    let name = old.name
    let place = Context.previous(service: name.service, key: name.key, kind: kept.kind, revision: kept.revision)
    let sealed = try reseal(kept.sealed, old.accessibility, from: place, to: place, class: `class`, sealer)
    return PreviousValue.item(revision: kept.revision, modified: kept.modified, kind: kept.kind, sealed: sealed)
  }

  /// Moves a value to another place, or to another class with the same layers. A device layer inside stays as it is.
  private func reseal(
    _ sealed: UnsafeRawBufferPointer, _ oldClass: Vault.Accessibility, from old: Context, to new: Context,
    class newClass: Vault.Accessibility,
    _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    try sealer.resealed(
      sealed, from: try classKey(oldClass, sealer), old, to: try classKey(newClass, sealer), new)
  }
}

extension VaultError {
  static let conflict = VaultError(.conflict, "the record was changed since the revision that was compared")
}

extension Sealer {
  /// Opens a value and seals it for another key or place, without letting it out.
  /// - Throws: ``VaultError/Code/tampered`` when it does not open.
  func resealed(
    _ sealed: UnsafeRawBufferPointer, from oldKey: SealingKey, _ old: Context, to newKey: SealingKey, _ new: Context
  ) throws(VaultError) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: sealed.count)
    let isOpen = try withOpened(sealed, with: oldKey, context: { old.write(to: &$0) }) { value in
      out.withUnsafeMutableBytes { seal(value, with: newKey, as: new, into: $0) }
    }
    guard isOpen else { throw .tampered("a value") }
    return out
  }
}
