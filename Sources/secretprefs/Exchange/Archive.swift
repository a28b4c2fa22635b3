internal import VaultCore

/// Everything that a credential opens, as one JSON document (`Docs/Archive.schema.json`). A record is one line.
struct Archive {
  /// What the member `format` is.
  static let name = "secretprefs-archive"
  static let version: UInt16 = 1
  /// How many times a record is read again if other processes change it.
  private static let tries = 5

  /// A part that is not in the archive.
  struct Unopened {
    let members: [(String, JSON)]
    let text: String
    let error: VaultError
  }

  private let vault: Vault
  private let output: SecretOutput
  /// Collects one record.
  private let record: SecretOutput
  private(set) var groupCount = 0
  private(set) var recordCount = 0
  private(set) var removedCount = 0
  private(set) var unopened: [Unopened] = []

  init(of vault: Vault, to output: SecretOutput) throws(VaultError) {
    self.vault = vault
    self.output = output
    record = try SecretOutput(isCollecting: true)
  }

  /// Whether an error is about a part of the vault, and not about all of it.
  static func isFinding(_ error: VaultError) -> Bool {
    Examination.isFinding(error) || error.code == .deviceKeyMissing || error.code == .wrongDevice
  }

  /// - Parameter now: Milliseconds since 1970-01-01 UTC.
  mutating func write(at now: Int64) throws {
    let head: [(String, JSON)] = [
      ("format", .string(Self.name)), ("version", .unsigned(UInt64(Self.version))),
      ("exported", .string(Timestamp.text(of: now))),
    ]
    try output.writeOpen(head)
    try output.write(",\n\"groups\":[")
    for group in try vault.groupsInOrder() {
      let records: [RecordInfo]
      do throws(VaultError) { records = try vault.records(in: group) } catch {
        guard Self.isFinding(error) else { throw error }
        note(error, [("group", .string(group.name.text))], "access group \(displayed(group.name.text))")
        continue
      }
      try output.write((groupCount == 0 ? "\n" : ",\n") + "{\"group\":\(JSON.string(group.name.text).text),")
      groupCount += 1
      try output.write("\"records\":[")
      let written = try write(records.map { (info: $0, removed: nil) }, of: group)
      try output.write("],\n\"removed\":[")
      // Read after the records: one that is removed in between is in one of the lists, and in one only.
      let removed = try vault.removedRecords(in: group).filter { !written.contains([$0.service, $0.key]) }
      _ = try write(removed.map { (info: RecordInfo(of: $0), removed: $0) }, of: group)
      try output.write("]}")
    }
    let others = try vault.groupsNotGranted()
    for id in others {
      note(
        VaultError(.groupNotGranted, "the credential does not open it"), [("groupId", .string(id.description))],
        "access group with the id \(id.short)")
    }
    try output.write("\n],\n\"unopened\":\(JSON.array(unopened.map { .object($0.members) }).text)}\n")
    try output.flush()
  }

  private mutating func note(_ error: VaultError, _ place: [(String, JSON)], _ text: String) {
    unopened.append(
      Unopened(members: place + [("reason", .string(error.code.rawValue))], text: text, error: error))
  }

  /// - Returns: The service and the key of each record that was written.
  private mutating func write(
    _ records: [(info: RecordInfo, removed: RemovedRecord?)], of group: AccessGroup
  ) throws -> Set<[Vault.Name]> {
    var written: Set<[Vault.Name]> = []
    for (info, removed) in records {
      guard let failures = try collect(info, removed, group) else { continue }
      try output.write(written.isEmpty ? "\n" : ",\n")
      written.insert([info.service, info.key])
      try record.withBytes { (bytes) throws in try output.write(bytes) }
      if removed == nil { recordCount += 1 } else { removedCount += 1 }
      guard let error = failures.first else { continue }
      note(
        error,
        [
          ("group", .string(group.name.text)), ("service", .string(info.service.text)), ("key", .string(info.key.text)),
        ], SecretReference(service: info.service, key: info.key.text, in: group).text)
    }
    if !written.isEmpty { try output.write("\n") }
    return written
  }

  /// Collects one record as it is at one moment.
  /// - Returns: The errors of its values; `nil` if there is no such record any more.
  /// - Throws: ``ToolError/changedRecord`` for a removed key that is restored or dropped in the meantime.
  private func collect(_ info: RecordInfo, _ removed: RemovedRecord?, _ group: AccessGroup) throws -> [VaultError]? {
    var info = info
    for attempt in 1... {
      record.truncate(to: 0)
      do {
        let archived =
          removed.map { ArchivedRecord($0, in: group, of: vault) } ?? ArchivedRecord(info, in: group, of: vault)
        return try archived.write(to: record)
      } catch let error as ToolError {
        guard error.isChangedRecord, removed == nil, attempt < Self.tries else { throw error }
        guard let present = try vault.record(info, in: group) else { return nil }
        info = present
      }
    }
    return nil
  }
}
