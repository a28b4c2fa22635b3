/// Reads the records of one group, and opens their values.
struct RecordReading {
  let vaultID: Bytes
  let group: Bytes
  let key: Bytes
  let deviceKey: Bytes

  func record(_ cursor: inout Cursor) throws -> Record {
    var record = Record("", "")
    (record.service, record.key) = (try cursor.lp16(), try cursor.lp16())
    (record.kind, record.class) = (try cursor.integer(), try cursor.integer())
    try require(try cursor.integer(UInt16.self) == 0, "a record's reserved bytes")
    (record.created, record.modified) = (try cursor.integer(), try cursor.integer())
    record.revision = try cursor.integer(UInt64.self)
    let sealed = try cursor.lp32()
    var items = Cursor(try cursor.lp32())
    while items.remaining > 0 {
      let (tag, data) = (try items.integer(UInt16.self), try items.lp32())
      if tag == 5 {
        record.previous.append(try previous(data, record))
      } else {
        record.items.append((tag, data))
      }
    }
    let context = [Bytes("value"), record.service, record.key, [record.kind]]
    if let removal = record.removal {
      let isSound = removal.count == 16 && record.items.filter { $0.tag == 7 }.count == 1 && record.kind == 2
      try require(isSound && sealed.count == 72, "a removed record")
      try require(try open(sealed, record.class, context).isEmpty, "the value of a removed record")
    } else {
      record.value = try open(sealed, record, kind: record.kind, context)
    }
    return record
  }

  private func previous(_ data: Bytes, _ record: Record) throws -> Record.Previous {
    var cursor = Cursor(data)
    var previous = Record.Previous(try cursor.integer(), "")
    (previous.modified, previous.kind) = (try cursor.integer(), try cursor.integer())
    previous.value = try open(
      try cursor.lp32(), record, kind: previous.kind,
      [Bytes("previous"), record.service, record.key, [previous.kind], .integer(previous.revision)])
    try cursor.finish()
    return previous
  }

  private func open(_ sealed: Bytes, _ record: Record, kind: UInt8, _ context: [Bytes]) throws -> Bytes {
    let value = try open(sealed, record.class, context)
    guard record.class >= 2 else { return value }
    let place = [Bytes("device"), vaultID, group, record.service, record.key, [kind]]
    return try require(Sealing.open(value, key: deviceKey, context: place), "a device layer")
  }

  /// Opens the outer seal.
  private func open(_ sealed: Bytes, _ class: UInt8, _ context: [Bytes]) throws -> Bytes {
    let classKey = Sealing.derive(32, key, "class-key", [`class`])
    return try require(Sealing.open(sealed, key: classKey, context: context), "a value")
  }
}
