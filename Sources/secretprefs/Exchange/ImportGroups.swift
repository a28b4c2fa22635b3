internal import VaultCore

/// The access groups that an import writes to, as its keys need them.
struct ImportGroups {
  private let place: RecordPlace
  /// Whether the keys of an archive stay in their groups.
  private let keepsNames: Bool
  private let vault: Vault
  private var planned: [Vault.Name?: ImportPlan.PlannedGroup] = [:]
  /// The removed records that each group keeps, by service and key.
  private var removed: [Vault.Name: [Vault.Name: [Vault.Name: RemovedRecord]]] = [:]
  /// The number of keys of each group that the import cannot write to.
  private var refused: [Vault.Name: Int] = [:]

  init(_ place: RecordPlace, keepsNames: Bool, of vault: Vault) {
    self.place = place
    self.keepsNames = keepsNames
    self.vault = vault
  }

  /// In the order of their names.
  var all: [ImportPlan.PlannedGroup] { planned.values.sorted { $0.name < $1.name } }

  /// A line of the report for each group without access.
  var skipped: [PlainRecords.Part] {
    refused.sorted { $0.key < $1.key }.map { name, count in
      PlainRecords.Part(
        line: 0, name: "access group \(name.text)",
        reason: "the credential does not open it and cannot create it: \(counted(count, "key", "keys"))")
    }
  }

  /// The error if no key can be imported because of that.
  var refusal: ToolError? {
    refused.isEmpty
      ? nil
      : ToolError(
        VaultError(
          .groupNotGranted,
          "nothing was imported: the credential does not open the access groups of the keys and cannot create them: "
            + listed(refused.keys.sorted().map { displayed($0.text) })))
  }

  /// The removed record of that name that a group keeps.
  mutating func removedRecord(
    _ key: String, of service: Vault.Name, in target: ImportPlan.PlannedGroup
  ) throws(VaultError) -> RemovedRecord? {
    guard let group = target.group else { return nil }
    if removed[target.name] == nil {
      removed[target.name] = Dictionary(grouping: try vault.removedRecords(in: group), by: \.service)
        .mapValues { records in Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0) }) }
    }
    guard let records = removed[target.name]?[service] else { return nil }
    if let exact = records[try Vault.Name(verbatim: Array(key.utf8))] { return exact }
    return records[try Vault.Name(key)]
  }

  /// The group that a value is imported into; `nil` if the credential cannot write to it.
  mutating func target(of value: PlainRecords.Value) throws -> ImportPlan.PlannedGroup? {
    var name: Vault.Name?
    if keepsNames, let own = value.record?.group { name = try Vault.Name(own) }
    if let known = planned[name] { return known }
    guard let name else {
      let group = try place.group(in: vault)
      let target = ImportPlan.PlannedGroup(name: group.name, group: group)
      planned[nil] = target
      return target
    }
    if let count = refused[name] {
      refused[name] = count + 1
      return nil
    }
    do throws(VaultError) {
      planned[name] = ImportPlan.PlannedGroup(name: name, group: try vault.group(named: name))
    } catch {
      guard error.code == .groupNotGranted else { throw error }
      guard try vault.isOwner else {
        refused[name] = 1
        return nil
      }
      planned[name] = ImportPlan.PlannedGroup(name: name, group: nil)
    }
    return planned[name]
  }
}
