internal import VaultCore

/// What `list` does, however its arguments were understood.
struct ListKeys: Work {
  let access: VaultAccess
  let service: String
  let group: String
  var ofAllServices = false
  var isJSON = false

  func perform(_ messages: Messages) throws {
    let service = try Name(service)
    let vault = try access.open(messages)
    let group = try vault.group(named: group)
    if isJSON {
      let records = try vault.records(service: ofAllServices ? nil : service, in: group)
      return try Output.write(.array(records.map(Self.json)))
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
      for var key in try vault.keys(service: service, in: group) {
        key.withUTF8 { displayed($0, into: &lines) }
        lines.append(UInt8(ascii: "\n"))
      }
    }
    try Output.write(lines)
  }

  private static func json(_ record: RecordInfo) -> JSON {
    .object([
      ("service", .string(record.service.text)), ("key", .string(record.key.text)),
      ("kind", .string(record.kind.label)), ("revision", .unsigned(record.revision)),
      ("created", .time(record.created)), ("modified", .time(record.modified)),
    ])
  }
}
