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
    let members = record.members(at: 0).filter { !["expired", "expiry", "kind", "secret"].contains($0.0) }
    let expiry: [(String, JSON)] = record.expiry.map { [("expiry", .string(Timestamp.text(of: $0)))] } ?? []
    let metadata: [(String, JSON)] =
      [("group", .string(group.name.text))] + members + expiry + [
        ("attributes", .array(record.attributes.map(\.exactJSON))),
        ("historyDepth", .unsigned(UInt64(record.historyDepth))),
      ]
    try output.writeOpen(metadata)
    try writeValue(nil, to: output)
    try output.write(",\"previous\":[")
    for (index, value) in record.previous.enumerated() {
      let head: [(String, JSON)] = [("revision", .unsigned(value.revision)), ("modified", .time(value.modified))]
      if index > 0 { try output.write(",") }
      try output.writeOpen(head)
      try writeValue(value.revision, to: output)
      try output.write("}")
    }
    try output.write("]}\n")
  }

  /// Writes the kind and the value.
  ///
  /// - Parameter revision: that of an earlier value; `nil` for the current one.
  private func writeValue(_ revision: UInt64?, to output: SecretOutput) throws {
    try output.write(",")
    let written = try vault.withValue(of: record, previous: revision, in: group) { kind, bytes in
      Result { try WrittenValue.write(kind, bytes, to: output) }
    }
    guard let written else { throw ToolError.changedRecord }
    try written.get()
  }
}

extension RecordEdit.Attribute {
  /// With all its data.
  var exactJSON: JSON {
    let content: (String, JSON) =
      text.map { ("text", .string($0)) } ?? ("base64", .string(Data(data).base64EncodedString()))
    return .object([("name", .string(name.text)), content])
  }
}
