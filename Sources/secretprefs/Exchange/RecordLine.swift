internal import FoundationEssentials
internal import Preferences
internal import VaultCore

/// A record as a line of JSON: its metadata, its value, and the earlier values that are kept.
struct RecordLine {
  private let record: RecordInfo
  private let group: AccessGroup
  private let vault: Vault

  init(_ record: RecordInfo, _ group: AccessGroup, _ vault: Vault) {
    self.record = record
    self.group = group
    self.vault = vault
  }

  /// Attributes that are not UTF-8 are written in base64, which is no secret.
  func write(to output: SecretOutput) throws {
    // The expiry stands for itself: whether it has passed depends on when the line is read.
    let members = record.members(at: 0).filter { $0.0 != "expired" && $0.0 != "kind" }
    let metadata: [(String, JSON)] =
      [("group", .string(group.name.text))] + members + [
        ("attributes", .array(record.attributes.map(Self.json))),
        ("historyDepth", .unsigned(UInt64(record.historyDepth))),
      ]
    try output.write(String(JSON.object(metadata).text.dropLast()))
    try writeValue(nil, to: output)
    try output.write(",\"previous\":[")
    for (index, value) in record.previous.enumerated() {
      let head: [(String, JSON)] = [("revision", .unsigned(value.revision)), ("modified", .time(value.modified))]
      try output.write((index == 0 ? "" : ",") + String(JSON.object(head).text.dropLast()))
      try writeValue(value.revision, to: output)
      try output.write("}")
    }
    try output.write("]}\n")
  }

  /// Writes the kind and the value.
  ///
  /// - Parameter revision: that of an earlier value; `nil` for the current one.
  private func writeValue(_ revision: UInt64?, to output: SecretOutput) throws {
    let written = try vault.withValue(of: record, previous: revision, in: group) { kind, bytes in
      bytes.withUnsafeBytes { bytes in
        Result {
          try output.write(",\"kind\":\(JSON.string(kind.label).text),")
          try Self.withText(kind, bytes) { isText, bytes in
            try output.write(isText ? "\"value\":" : "\"base64\":\"")
            if isText { try output.writeJSON(kind, bytes) } else { try output.writeBase64(bytes) }
            if !isText { try output.write("\"") }
          }
        }
      }
    }
    guard let written else { throw ToolError(VaultError(.conflict, "a record was changed during the export")) }
    try written.get()
  }

  /// Lends the bytes to write, and whether they are text. JSON over several lines and a date without an exact text are
  /// lent as they are stored.
  private static func withText(
    _ kind: ValueKind, _ bytes: UnsafeRawBufferPointer, _ body: (Bool, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    switch kind {
    case .json where bytes.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }):
      try body(false, bytes)
    case .date:
      let seconds = Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
      guard let text = PreferenceTimestamp.exactText(Date(timeIntervalSinceReferenceDate: seconds)) else {
        return try body(false, bytes)
      }
      try Array(text.utf8).withUnsafeBytes { try body(true, $0) }
    default: try ValueText.withText(kind, bytes, body)
    }
  }

  private static func json(_ attribute: RecordEdit.Attribute) -> JSON {
    let content: (String, JSON) =
      attribute.text.map { ("text", .string($0)) }
      ?? ("base64", .string(Data(attribute.data).base64EncodedString()))
    return .object([("name", .string(attribute.name.text)), content])
  }
}
