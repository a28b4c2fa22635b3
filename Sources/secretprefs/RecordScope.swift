internal import VaultCore

/// The keys that a command works on: those of one service and access group, or of several.
struct RecordScope {
  let place: RecordPlace
  let allServices: Bool
  let allGroups: Bool
  let choice: KeyChoice

  /// Whether all keys are of one service and access group.
  var isOnePlace: Bool { !allServices && !allGroups }

  /// `nil` for all services.
  var service: Vault.Name? { allServices ? nil : place.service }

  func groups(in vault: Vault, _ messages: Messages) throws -> [AccessGroup] {
    allGroups ? try vault.allGroups(messages) : [try place.group(in: vault)]
  }

  /// The records that are chosen, in the order of the names of groups, services and keys.
  ///
  /// - Parameter others: Keys without a record that are chosen from, too.
  /// - Throws: What ``KeyChoice/checkUse(of:_:)`` throws, and the vault's errors.
  func records(in groups: [AccessGroup], of vault: Vault, besides others: [String] = []) throws -> [ListedRecord] {
    let all = try ListedRecord.all(service: service, in: groups, of: vault)
    if !all.isEmpty || !others.isEmpty { try choice.checkUse(of: all.map(\.info.key.text) + others, patternHint) }
    return all.filter { choice.includes($0.info.key.text) }
  }

  private var patternHint: String { Hints.patterns(allServices || allGroups ? flags : place.options) }

  /// What to call a key: its name, after those of its group and service if the keys are of several.
  func names(_ group: AccessGroup, _ service: Vault.Name, _ key: Vault.Name) -> [String] {
    ((allGroups ? [group.name.text] : []) + (allServices ? [service.text] : []) + [key.text]).map(displayed)
  }

  /// The error if there is no key.
  var nothing: ToolError {
    choice.isEveryKey ? .emptyService.with(hint: place.keysHint) : .noMatchingKey(patternHint)
  }

  /// The options that select the same services and groups.
  private var flags: String {
    place.options + (allServices ? " --all-services" : "") + (allGroups ? " --all-groups" : "")
  }
}

extension Vault {
  /// All access groups that the credential opens, in the order of their names. Warns about the others.
  func allGroups(_ messages: Messages) throws(VaultError) -> [AccessGroup] {
    let others = try groupsNotGranted()
    if !others.isEmpty {
      messages.warn(
        "the credential does not open \(counted(others.count, "other access group", "other access groups")): "
          + listed(others.map(\.short)))
    }
    return try groupsInOrder()
  }
}

extension VaultError {
  /// The error with the access group that it is about.
  func about(_ group: AccessGroup) -> VaultError {
    VaultError(code, "access group \(displayed(group.name.text)): \(message)", errno: errno, cause: cause)
  }
}
