internal import VaultSealing

/// Seals a group's records under a new key (`Docs/Format.md` 5.6). The device layer is not changed, so the device key
/// is not needed.
struct Resealing {
  let old: GroupContent
  let dropsHistory: Bool
  let sealer: Sealer
  private var newKeys: ClassKeys

  init(_ old: GroupContent, under new: SealingKey, dropsHistory: Bool, sealer: Sealer) {
    self.old = old
    newKeys = ClassKeys(of: new)
    self.dropsHistory = dropsHistory
    self.sealer = sealer
  }

  /// Writes `record` with its value and earlier values sealed under the new key. Revision and times do not change.
  /// - Throws: ``VaultError/Code/tampered`` if one of them does not open.
  mutating func write(_ record: Record, to writer: inout ByteWriter) throws(VaultError) {
    let name = record.name
    let oldKey = try old.classKey(record.accessibility, sealer)
    let newKey = try newKeys.key(record.accessibility, sealer)
    writer.raw(record.bytesBeforeValue)
    let value = Context.value(service: name.service, key: name.key, kind: record.kind)
    writer.lp32(try sealer.resealed(record.sealedValue, from: oldKey, value, to: newKey, value))
    var items = ByteWriter()
    defer { items.bytes.wipe() }
    items.bytes.reserveCapacity(record.extensionField.byteCount)
    var fields = Extension.Items(record.extensionField)
    while let item = try fields.next() {
      guard item.tag == Extension.RecordTag.previous else {
        items.integer(item.tag)
        items.lp32(item.data)
        continue
      }
      if dropsHistory { continue }
      let previous = try PreviousValue(item.data)
      items.integer(item.tag)
      items.integer(UInt32(item.data.byteCount))
      items.raw(item.data.extracting(droppingLast: previous.sealed.byteCount))
      let place = Context.previous(
        service: name.service, key: name.key, kind: previous.kind, revision: previous.revision)
      items.raw(try sealer.resealed(previous.sealed, from: oldKey, place, to: newKey, place))
    }
    writer.lp32(items.bytes)
  }
}
