internal import Preferences
internal import VaultCore
internal import VaultSealing

/// What an import does with each key of the file, given the keys that the vault has.
struct ImportPlan {
  /// What happens to keys that exist.
  enum ConflictChoice: String, CaseIterable {
    case stop, skip, replace

    static func named(_ name: String) throws(ToolError) -> ConflictChoice {
      guard let choice = ConflictChoice(rawValue: name) else {
        throw .usage("--on-conflict has no such choice", hint: "--on-conflict stop, skip or replace")
      }
      return choice
    }
  }

  struct PlannedValue {
    let value: PlainRecords.Value
    let kind: ValueKind
    /// The record that has the key. `nil` if the key is new.
    let record: RecordInfo?

    var exists: Bool { record != nil }
  }

  let items: [PlannedValue]
  let skipped: [PlainRecords.Part]
  let notes: [PlainRecords.Part]
  let place: RecordPlace
  let group: AccessGroup

  init(
    _ records: PlainRecords, in bytes: borrowing SecretBytes, _ place: RecordPlace, _ group: AccessGroup,
    of vault: Vault
  ) throws(VaultError) {
    self.place = place
    self.group = group
    skipped = records.skipped
    notes = records.notes
    items = try bytes.withUnsafeBytes { (bytes) throws(VaultError) in
      try records.values.map { (value) throws(VaultError) in
        let kind = value.spelling.kind(of: UnsafeRawBufferPointer(rebasing: bytes[value.bytes]))
        let record = try vault.record(service: place.service, key: value.key, in: group)
        return PlannedValue(value: value, kind: kind, record: record)
      }
    }
  }

  var existing: [PlannedValue] { items.filter(\.exists) }

  /// Writes all values in one transaction.
  /// - Returns: The revision of the imported keys; 0 if there are none.
  func write(from bytes: borrowing SecretBytes, _ choice: ConflictChoice, to vault: Vault) throws -> UInt64 {
    guard choice != .stop || existing.isEmpty else {
      throw ToolError(
        VaultError(.alreadyExists, "nothing was imported: these keys exist: \(listed(existing.map(\.value.key)))"),
        hint: "--on-conflict skip keeps existing keys, --on-conflict replace replaces them")
    }
    do throws(VaultError) {
      let changes = try bytes.withSpan { (bytes) throws(VaultError) in
        try vault.sealedChanges(service: place.service, in: group) { (batch) throws(VaultError) in
          batch.reserveCapacity(items.count)
          for item in items where choice == .replace || !item.exists {
            let edit =
              switch item.value.login {
              case .docker(let user): try DockerCredential.login(of: user, over: item.record)
              case .git: try GitCredential.login(over: item.record)
              case nil: RecordEdit()
              }
            try item.value.spelling.withBody(of: bytes.extracting(item.value.bytes)) { (body) throws(VaultError) in
              try batch.set(
                body, kind: item.kind, forKey: item.value.key, edit: edit, ifRevision: item.exists ? nil : 0)
            }
          }
        }
      }
      return try vault.commit(changes.get(), in: group).revision
    } catch {
      guard error.code == .conflict else { throw error }
      throw ToolError(
        error, message: "another process stored one of the keys meanwhile; nothing was imported",
        hint: "run the command again")
    }
  }
}

/// The names of the first keys, and how many others there are.
func listed(_ keys: [String]) -> String {
  keys.prefix(20).joined(separator: ", ") + (keys.count > 20 ? " and \(keys.count - 20) more" : "")
}
