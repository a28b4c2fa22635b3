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
    let service: Vault.Name
    let value: PlainRecords.Value
    let kind: ValueKind
    /// The record that has the key. `nil` if the key is new.
    let record: RecordInfo?

    var exists: Bool { record != nil }
  }

  let items: [PlannedValue]
  /// The services of the keys, in ascending order.
  let services: [String]
  let skipped: [PlainRecords.Part]
  let notes: [PlainRecords.Part]
  let place: RecordPlace
  let group: AccessGroup

  /// - Parameter keepsServices: whether records stay in their services.
  init(
    _ records: PlainRecords, in bytes: borrowing SecretBytes, _ place: RecordPlace, keepingServices keepsServices: Bool,
    _ group: AccessGroup, of vault: Vault
  ) throws(VaultError) {
    self.place = place
    self.group = group
    skipped = records.skipped
    notes = records.notes
    items = try bytes.withUnsafeBytes { (bytes) throws(VaultError) in
      try records.values.map { (value) throws(VaultError) in
        let kind = value.spelling.kind(of: UnsafeRawBufferPointer(rebasing: bytes[value.bytes]))
        let own = try value.record.map { (record) throws(VaultError) in try Vault.Name(record.service) }
        let service = keepsServices ? own ?? place.service : place.service
        let record = try vault.record(service: service, key: value.key, in: group)
        return PlannedValue(service: service, value: value, kind: kind, record: record)
      }
    }
    services = Set(items.map(\.service)).map(\.text).sorted()
  }

  var existing: [PlannedValue] { items.filter(\.exists) }

  /// The largest number of earlier values that a record has.
  var earlierCount: Int { items.map { $0.value.record?.earlier.count ?? 0 }.max() ?? 0 }

  /// Writes all values in one transaction. Each earlier value of a record needs one more before it.
  /// - Returns: The revision of the imported keys; 0 if there are none.
  func write(from bytes: borrowing SecretBytes, _ choice: ConflictChoice, to vault: Vault) throws -> UInt64 {
    guard choice != .stop || existing.isEmpty else {
      throw ToolError(
        VaultError(.alreadyExists, "nothing was imported: these keys exist: \(listed(existing.map(\.value.key)))"),
        hint: "--on-conflict skip keeps existing keys, --on-conflict replace replaces them")
    }
    do throws(VaultError) {
      var revision: UInt64 = 0
      for place in (0...earlierCount).reversed() {
        var changes: [RecordChange] = []
        for service in Set(items.map(\.service)) {
          changes += try self.changes(place, of: service, from: bytes, choice, in: vault)
        }
        revision = try vault.commit(changes, in: group).revision
      }
      return revision
    } catch {
      guard error.code == .conflict else { throw error }
      throw ToolError(
        error, message: "another process stored one of the keys meanwhile; nothing was imported",
        hint: "run the command again")
    }
  }

  /// The changes that store the values at one place of the history.
  ///
  /// - Parameter place: 0 for the present values, 1 for those before them.
  private func changes(
    _ place: Int, of service: Vault.Name, from bytes: borrowing SecretBytes, _ choice: ConflictChoice, in vault: Vault
  ) throws(VaultError) -> [RecordChange] {
    let items = items.filter { item in
      item.service == service && (choice == .replace || !item.exists)
        && place <= item.value.record?.earlier.count ?? 0
    }
    return try bytes.withSpan { (bytes) throws(VaultError) in
      try vault.sealedChanges(service: service, in: group) { (batch) throws(VaultError) in
        batch.reserveCapacity(items.count)
        for item in items { try item.add(to: &batch, place, from: bytes) }
      }
    }.get()
  }
}

extension ImportPlan.PlannedValue {
  /// Adds the value at one place of the history to a batch.
  fileprivate func add(to batch: inout Vault.Transaction, _ place: Int, from bytes: RawSpan) throws(VaultError) {
    let earlier = place > 0 ? value.record?.earlier[place - 1] : nil
    let (range, spelling) = (earlier?.bytes ?? value.bytes, earlier?.spelling ?? value.spelling)
    let isFirst = place == value.record?.earlier.count ?? 0
    // The kind of an earlier value does not depend on its bytes.
    let kind = earlier?.spelling.kind(of: UnsafeRawBufferPointer(start: nil, count: 0)) ?? kind
    let edit = try edit(isLast: place == 0)
    try spelling.withBody(of: bytes.extracting(range)) { (body) throws(VaultError) in
      try batch.set(
        body, kind: kind, forKey: value.key, accessibility: value.record?.accessibility, edit: edit,
        ifRevision: isFirst && !exists ? 0 : nil)
    }
  }

  private func edit(isLast: Bool) throws(VaultError) -> RecordEdit {
    if let imported = value.record { return imported.edit(isLast: isLast, over: record) }
    switch value.login {
    case .docker(let user): return try DockerCredential.login(of: user, over: record)
    case .git: return try GitCredential.login(over: record)
    case nil: return RecordEdit()
    }
  }
}

/// The names of the first keys, and how many others there are.
func listed(_ keys: [String]) -> String {
  keys.prefix(20).joined(separator: ", ") + (keys.count > 20 ? " and \(keys.count - 20) more" : "")
}
