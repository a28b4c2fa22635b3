internal import VaultCore

/// What `remove --match` removes.
struct MatchingRemoval {
  private struct Key {
    let group: AccessGroup
    let service: Vault.Name
    let key: Vault.Name
    /// 0 for a key that was removed before and is kept.
    let revision: UInt64
  }

  private let scope: RecordScope
  private let atOnce: Bool
  /// In the order of groups and services. Keys that were removed before are last.
  private let keys: [Key]

  var count: Int { keys.count }

  /// - Parameter atOnce: Whether the keys are not kept, and those that were removed before are among them.
  /// - Throws: ``ToolError/noMatchingKey(_:)`` and the vault's errors.
  init(_ scope: RecordScope, atOnce: Bool, of vault: Vault, _ messages: Messages) throws {
    let groups = try scope.groups(in: vault, messages)
    var removed: [Key] = []
    for group in atOnce ? groups : [] {
      removed += try vault.removedRecords(service: scope.service, in: group)
        .map { Key(group: group, service: $0.service, key: $0.key, revision: 0) }
    }
    let keys =
      try scope.records(in: groups, of: vault, besides: removed.map(\.key.text)).map { record in
        Key(group: record.group, service: record.info.service, key: record.info.key, revision: record.info.revision)
      } + removed.filter { scope.choice.includes($0.key.text) }
    guard !keys.isEmpty else { throw scope.nothing }
    self.scope = scope
    self.atOnce = atOnce
    self.keys = keys
  }

  /// One line for each key.
  var list: String { keys.map { line($0, separator: "\t") + "\n" }.joined() }

  /// - Parameter count: How many are removed.
  func json(_ count: Int) -> JSON {
    .object([
      ("removed", .unsigned(UInt64(count))), ("kept", .bool(!atOnce)),
      (
        "keys",
        .array(
          keys.map { key in
            .object([
              ("group", .string(key.group.name.text)), ("service", .string(key.service.text)),
              ("key", .string(key.key.text)),
            ])
          })
      ),
    ])
  }

  /// Asks, after the names of the keys.
  func confirm(mayPrompt: Bool) throws {
    let words = counted(count, "key", "keys")
    let names = listed(keys.map { line($0, separator: " ") })
    try Prompt.confirm(
      "Remove \(words)\(atOnce ? " for good" : ""): \(names)?", otherwise: "\(words) would be removed: \(names)",
      mayPrompt: mayPrompt)
  }

  private func line(_ key: Key, separator: String) -> String {
    scope.names(key.group, key.service, key.key).joined(separator: separator)
      + (key.revision == 0 ? "\(separator)(removed before)" : "")
  }

  /// Removes the keys, those of one group in one transaction.
  ///
  /// - Returns: The access groups, each with the revision of its transaction.
  func perform(
    by command: any WritingCommand.Type, on vault: Vault
  ) throws -> [(group: AccessGroup, revision: UInt64)] {
    var done: [(group: AccessGroup, revision: UInt64)] = []
    var rest = keys[...]
    while let group = rest.first?.group {
      let keys = keys.filter { $0.group.id == group.id }
      rest.removeAll { $0.group.id == group.id }
      do throws(VaultError) { done.append((group, try remove(keys, in: group, of: vault))) } catch {
        let said =
          error.code == .conflict
          ? VaultError(
            .conflict, "another process changed one of the keys in the meantime; none of the group was removed")
          : error
        let others = done.map { displayed($0.group.name.text) }
        throw done.isEmpty
          ? said : said.about(group).after("the keys of other access groups were removed: \(listed(others))")
      }
      Output.recordChange(by: command)
    }
    return done
  }

  private func remove(_ keys: [Key], in group: AccessGroup, of vault: Vault) throws(VaultError) -> UInt64 {
    var changes: [RecordChange] = []
    for (service, keys) in Dictionary(grouping: keys, by: \.service) {
      changes += try vault.sealedChanges(service: service, in: group) { (batch) throws(VaultError) in
        for key in keys { try batch.remove(key.key, atOnce: atOnce, ifRevision: key.revision) }
      }.get()
    }
    return try vault.commit(changes, in: group).revision
  }
}
