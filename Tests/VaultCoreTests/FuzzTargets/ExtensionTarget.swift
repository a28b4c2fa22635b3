@testable import VaultCore

/// The extension field of a record of revision 9, the only one of its section: labels, attributes, previous values.
struct ExtensionTarget: FuzzTarget {
  private let group: FuzzGroup

  init() throws { group = try FuzzGroup() }

  func check(_ input: UnsafeRawBufferPointer) throws {
    let field = Array(input)
    _ = try agreement(
      "a field", { () throws(VaultError) in try Extension.check(field.span.bytes) },
      { () throws(VaultError) in try ReferenceReader.items(field) })

    let body = Self.section(field)
    let parsed = try agreement(
      "a record's field", { () throws(VaultError) in try group.content(body) },
      { () throws(VaultError) in try ReferenceGroup(body, limits: group.limits) })
    if let (content, expected) = parsed { try expected.compare(with: content) }
  }

  private static func section(_ field: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(UInt64(9))
    writer.integer(UInt64(1))
    writer.zeros(Vault.Tag.count)
    writer.lp16(Array("group".utf8))
    writer.integer(UInt32(1))
    writer.lp16(Array("db".utf8))
    writer.lp16(Array("key".utf8))
    writer.integer(UInt32(1))
    writer.zeros(16)
    writer.integer(UInt64(9))
    writer.lp32([UInt8](repeating: 0, count: 72))
    writer.lp32(field)
    writer.lp32([])
    return writer.bytes
  }
}
