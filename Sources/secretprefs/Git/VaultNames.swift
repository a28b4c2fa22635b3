internal import VaultCore

/// What `git diff` shows of a vault: names and revisions, and no value.
struct VaultNames {
  private(set) var lines: [String] = []

  init(of vault: Vault) throws(VaultError) {
    do throws(VaultError) {
      for slot in try vault.slots().sorted(by: { $0.id < $1.id }) {
        add("slot", slot.id.description, slot.label, slot.isOwner ? "owner" : slot.group?.text ?? "group")
      }
    } catch {
      // An error would end the whole diff.
      guard error.code == .ownerRequired else { throw error }
      add("slots", "only an owner may list them")
    }
    let policy = try vault.auditing()
    for group in try vault.status().groups.sorted(by: { $0.name < $1.name }) {
      add("group", group.name.text, "key \(group.epoch)")
    }
    if let policy { add("log", "\(policy)") }
    for record in try ListedRecord.all(service: nil, in: try vault.groupsInOrder(), of: vault) {
      let info = record.info
      add(
        record.group.name.text, info.service.text, info.key.text, "revision \(info.revision)", info.kind.label,
        Timestamp.text(of: info.modified))
    }
    for group in try vault.groupsInOrder() {
      for record in try vault.removedRecords(in: group) {
        add(
          group.name.text, record.service.text, record.key.text, "removed after revision \(record.revision)",
          Timestamp.text(of: record.removed))
      }
    }
  }

  private mutating func add(_ words: String...) { lines.append(words.map(displayed).joined(separator: "\t")) }
}
