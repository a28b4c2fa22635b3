internal import VaultCore

/// The operation of `list`.
struct ListKeys: ToolAction {
  let access: VaultAccess
  let place: RecordPlace
  var ofAllServices = false
  var isLong = false
  var isJSON = false

  func perform(_ messages: Messages) throws {
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    if isJSON || isLong {
      let now = access.options.now()
      let records = try vault.records(service: ofAllServices ? nil : place.service, in: group)
      if isJSON { return try Output.write(.array(records.map { .object($0.members(at: now)) })) }
      let rows = records.map { (ofAllServices ? [displayed($0.service.text)] : []) + $0.row(at: now) }
      return try Output.write(Table(rows: rows).text)
    }
    var lines: [UInt8] = []
    if ofAllServices {
      for record in try vault.records(in: group) {
        record.service.utf8.withUnsafeBufferPointer { displayed($0, into: &lines) }
        lines.append(UInt8(ascii: "\t"))
        record.key.utf8.withUnsafeBufferPointer { displayed($0, into: &lines) }
        lines.append(UInt8(ascii: "\n"))
      }
    } else {
      for var key in try vault.keys(service: place.service, in: group) {
        key.withUTF8 { displayed($0, into: &lines) }
        lines.append(UInt8(ascii: "\n"))
      }
    }
    try Output.write(lines)
  }
}
