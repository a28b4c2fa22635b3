internal import FoundationEssentials
internal import VaultCore
internal import VaultSealing

/// A record of an archive: a line of JSON with everything that the vault has of it.
struct ArchivedRecord {
  private let info: RecordInfo
  /// Nil if the record is not removed.
  private let removed: RemovedRecord?
  private let group: AccessGroup
  private let vault: Vault

  init(_ info: RecordInfo, in group: AccessGroup, of vault: Vault) {
    self.info = info
    removed = nil
    self.group = group
    self.vault = vault
  }

  init(_ removed: RemovedRecord, in group: AccessGroup, of vault: Vault) {
    info = RecordInfo(of: removed)
    self.removed = removed
    self.group = group
    self.vault = vault
  }

  /// - Returns: The errors of values that do not open, in whose place their codes are.
  /// - Throws: ``ToolError/changedRecord`` if the record is not the same any more.
  func write(to output: SecretOutput) throws -> [VaultError] {
    var failures: [VaultError] = []
    try output.writeOpen(metadata)
    if removed == nil {
      try output.write(",")
      failures += try writeValue(info.kind, nil, to: output)
    }
    try output.write(",\"previous\":[")
    for (index, value) in info.previous.enumerated() {
      let head: [(String, JSON)] = [
        ("revision", .unsigned(value.revision)), ("modified", .string(Timestamp.text(of: value.modified))),
      ]
      if index > 0 { try output.write(",") }
      try output.writeOpen(head)
      try output.write(",")
      failures += try writeValue(value.kind, value.revision, to: output)
      try output.write("}")
    }
    try output.write("]}")
    return failures
  }

  private var metadata: [(String, JSON)] {
    var members: [(String, JSON)] = [
      ("service", .string(info.service.text)), ("key", .string(info.key.text)),
      ("accessibility", .string(info.accessibility.name)), ("revision", .unsigned(info.revision)),
      ("created", .string(Timestamp.text(of: info.created))),
    ]
    if let removed {
      members += [
        ("removed", .string(Timestamp.text(of: removed.removed))),
        ("keptUntil", .string(Timestamp.text(of: removed.keptUntil))),
      ]
    } else {
      members.append(("modified", .string(Timestamp.text(of: info.modified))))
    }
    if let label = info.label { members.append(("label", .string(label))) }
    if let comment = info.comment { members.append(("comment", .string(comment))) }
    if let expiry = info.expiry { members.append(("expiry", .string(Timestamp.text(of: expiry)))) }
    members.append(("attributes", .array(info.attributes.map(\.exactJSON))))
    if let depth = info.storedHistoryDepth { members.append(("historyDepth", .unsigned(UInt64(depth)))) }
    let unknown = info.unknownItems.map { item in
      JSON.object([
        ("tag", .unsigned(UInt64(item.tag))), ("base64", .string(Data(item.data).base64EncodedString())),
      ])
    }
    return unknown.isEmpty ? members : members + [("extensions", .array(unknown))]
  }

  /// Writes the kind and the value, or why it does not open.
  ///
  /// - Parameter revision: That of an earlier value; `nil` for the current one.
  private func writeValue(_ kind: ValueKind, _ revision: UInt64?, to output: SecretOutput) throws -> [VaultError] {
    let start = output.count
    let body = { (kind: ValueKind, bytes: RawSpan) in Result { try WrittenValue.write(kind, bytes, to: output) } }
    let written: Result<Void, any Error>?
    do throws(VaultError) {
      if let removed {
        written = try vault.withValue(of: removed, previous: revision ?? 0, in: group, body)
      } else {
        written = try vault.withValue(of: info, previous: revision, in: group, body)
      }
    } catch {
      guard Archive.isFinding(error) else { throw error }
      output.truncate(to: start)
      try output.write(
        "\"kind\":\(JSON.string(kind.label).text),\"unopened\":\(JSON.string(error.code.rawValue).text)")
      return [error]
    }
    guard let written else { throw ToolError.changedRecord }
    try written.get()
    return []
  }
}
