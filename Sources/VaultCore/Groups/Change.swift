internal import VaultSealing

/// One change of one record, its value already sealed: what waits in the queue of writes.
struct Change: Sendable {
  enum Action: Sendable {
    case put(kind: UInt8, class: UInt8, sealed: [UInt8])
    case remove
  }

  let service: Name
  let key: Name
  let action: Action

  /// About how much an entry grows by it, in bytes.
  var cost: Int {
    guard case .put(_, _, let sealed) = action else { return service.utf8.count + key.utf8.count + 8 }
    return service.utf8.count + key.utf8.count + sealed.count + 64
  }

  func withName<R, E: Error>(_ body: (RecordName) throws(E) -> R) throws(E) -> R {
    try service.utf8.span.bytes.withUnsafeBytes { (service) throws(E) in
      try key.utf8.span.bytes.withUnsafeBytes { (key) throws(E) in
        try body(RecordName(service: service, key: key))
      }
    }
  }

  static func < (a: Change, b: Change) -> Bool {
    a.withName { a in b.withName { b in a < b } }
  }
}

extension GroupContent {
  /// Writes `changes` as the body of the next entry (`Docs/Format.md` 3.7). A removal of an absent record is left
  /// out; a put keeps what 3.6 and 3.8 say it keeps.
  ///
  /// - Parameters:
  ///   - changes: of different records, in any order.
  ///   - now: milliseconds since 1970-01-01 UTC.
  /// - Returns: `nil` when nothing is left to change. Holds names: the caller wipes it.
  func entryBody(_ changes: [Change], now: Int64, sealer: Sealer) throws(VaultError) -> [UInt8]? {
    var order = changes.indices.filter { index in
      guard case .remove = changes[index].action else { return true }
      return changes[index].withName { find($0) != nil }
    }
    // Positions are sorted, not changes: moving those about would cost more than sealing them.
    order.sort { changes[$0] < changes[$1] }
    guard !order.isEmpty else { return nil }
    guard generation + 1 <= Limits.generations.upperBound else {
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
      switch change.action {
      case .remove:
        writer.integer(UInt8(2))
        writer.lp16(change.service.utf8)
        writer.lp16(change.key.utf8)
      case .put(let kind, let `class`, let sealed):
        writer.integer(UInt8(1))
        let old = change.withName { find($0) }
        writer.lp16(change.service.utf8)
        writer.lp16(change.key.utf8)
        writer.integer(kind)
        writer.integer(`class`)
        writer.integer(UInt16(0))
        writer.integer(old?.created ?? now)
        writer.integer(now)
        writer.integer(generation + 1)
        writer.lp32(sealed)
        writer.lp32(try old.map { (old) throws(VaultError) in try carriedExtension(of: old, sealer) } ?? [])
      }
    }
    return writer.bytes
  }

  /// The extension of a record that is set anew: everything but its expiry, and the old value in front of the
  /// kept ones as far as the history depth goes.
  private func carriedExtension(of old: Record, _ sealer: Sealer) throws(VaultError) -> [UInt8] {
    var depth = 0
    try Extension.forEach(old.extensionField) { (item) throws(VaultError) in
      if item.tag == Extension.RecordTag.depth {
        depth = Int(UInt16(littleEndian: item.data.loadUnaligned(as: UInt16.self)))
      }
    }
    var previous = depth > 0 ? [try previousItem(of: old, sealer)] : []
    try Extension.forEach(old.extensionField) { (item) throws(VaultError) in
      if item.tag == Extension.RecordTag.previous, previous.count < depth { previous.append(Array(item.data)) }
    }
    var writer = ByteWriter()
    func write(_ tag: UInt16, _ data: UnsafeRawBufferPointer) {
      writer.integer(tag)
      writer.lp32(data)
    }
    func writePrevious() {
      for data in previous { data.withUnsafeBytes { write(Extension.RecordTag.previous, $0) } }
      previous = []
    }
    try Extension.forEach(old.extensionField) { (item) throws(VaultError) in
      if item.tag > Extension.RecordTag.previous { writePrevious() }
      if item.tag != Extension.RecordTag.expiry, item.tag != Extension.RecordTag.previous {
        write(item.tag, item.data)
      }
    }
    writePrevious()
    return writer.bytes
  }

  /// The old value re-sealed as a previous one. A device layer inside stays as it is.
  private func previousItem(of old: Record, _ sealer: Sealer) throws(VaultError) -> [UInt8] {
    let name = old.name
    let key = try classKey(old.class, sealer)
    var writer = ByteWriter()
    writer.integer(old.revision)
    writer.integer(old.modified)
    writer.integer(old.kind)
    writer.integer(UInt32(old.sealedValue.count))
    let head = writer.count
    writer.zeros(old.sealedValue.count)
    let isOpen = try VaultError.sealing { () throws(SealingError) in
      try sealer.withOpened(
        old.sealedValue, with: key,
        context: { Context.value(service: name.service, key: name.key, kind: old.kind).write(to: &$0) }
      ) { value in
        writer.bytes.withUnsafeMutableBytes { out in
          sealer.seal(
            value, with: key,
            as: .previous(service: name.service, key: name.key, kind: old.kind, revision: old.revision),
            into: UnsafeMutableRawBufferPointer(rebasing: out[head...]))
        }
      }
    }
    guard isOpen else { throw .tampered("a value") }
    return writer.bytes
  }
}
