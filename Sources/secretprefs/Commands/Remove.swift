internal import ArgumentParser
internal import VaultCore

/// `secretprefs remove`.
struct Remove: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes keys and their values.",
    usage: "secretprefs remove [<options>] (<key> ... | --match <pattern>)",
    discussion: """
      Removes all keys in one transaction. If some do not exist, the others are removed and the exit code is 1.

      With --match, removes the keys that match a pattern, as "secretprefs list" has it. The command names them, the \
      first 20 of them, and asks for confirmation; --dry-run lists all, and removes none. With --all-services and \
      --all-groups it looks for them in all services and access groups; each group is one transaction, and the \
      command says which "secretprefs history undo" undoes it. A key that is changed after it was named is not \
      removed, and no other of its group.

      Removed keys are kept for 30 days with their values and metadata: "secretprefs history removed" lists them, and \
      "secretprefs history restore" restores one. To all other commands they do not exist. A new value of such a key \
      takes its place: the values before become earlier ones, as many as its history keeps, and the metadata is gone. \
      The first write after the 30 days drops removed keys. With --now the keys are gone for good with their earlier \
      values, also keys that were removed \
      before. Their sealed bytes stay in the file until "secretprefs compact" or another full write, and in every \
      copy of the file that was made before.

      EXAMPLE:
        secretprefs remove github
        secretprefs remove --service com.example.shop old-token older-token
        secretprefs remove --now leaked-token
        secretprefs remove --match 'staging/*' --except staging/db --dry-run
        secretprefs remove --match '*' --service old --all-groups --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @OptionGroup var patterns: PatternOptions
  @OptionGroup var scope: ScopeOptions

  @Flag(help: "With --match: remove without confirmation.")
  var yes = false

  @Flag(help: "With --match: list the keys, and remove none.")
  var dryRun = false

  @Flag(help: "Do not keep the keys, and drop those that were removed before.")
  var now = false

  @Argument(help: ArgumentHelp("The keys.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard patterns.match.isEmpty else { return try removeMatching(messages) }
    guard patterns.except.isEmpty, !scope.allServices, !scope.allGroups, !yes, !dryRun else {
      throw ToolError.usage(
        "--except, --all-services, --all-groups, --yes and --dry-run need --match",
        hint: "omit them for keys that are named; --match chooses keys by pattern")
    }
    guard !keys.isEmpty else { throw Self.usageError("no key is given") }
    let access = try unlock.complete(try vault.access())
    let (place, keys) = try record.named(keys)
    var names: Set<Vault.Name> = []
    for key in keys { names.insert(try Vault.Name(key)) }
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    var missing = names
    for name in names where try vault.record(service: place.service, key: name.text, in: group) != nil {
      missing.remove(name)
    }
    let dropped = try now ? removedBefore(names, place, in: group, of: vault) : []
    let removed =
      try dropped.count
      + vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
        for name in names { try batch.remove(name, atOnce: now) }
      }
    if removed > 0 { vault.recordChange(by: Self.self, messages) }
    guard removed == names.count else {
      guard names.count > 1 else {
        let pattern = Hints.removedPatterns(place.options)
        throw try place.noSuchKey(keys[0], in: group, of: vault, pattern: pattern)
      }
      throw ToolError.missing(
        missing.subtracting(dropped).map(\.text),
        removed == 0 ? "nothing was removed" : "the others were removed", listing: place.keysHint)
    }
    if self.vault.json { try Output.write(.object([("removed", .unsigned(UInt64(removed))), ("kept", .bool(!now))])) }
  }

  private func removeMatching(_ messages: Messages) throws {
    guard keys.isEmpty else { throw ToolError.usage("keys are named, and --match chooses keys", hint: Self.usage) }
    guard !yes || !dryRun else { throw ToolError.usage("--yes and --dry-run contradict each other") }
    let scope = try scope.scope(try record.place(), record, try patterns.choice())
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let removal = try MatchingRemoval(scope, atOnce: now, of: vault, messages)
    if dryRun { return try Output.write(self.vault.json ? removal.json(0).text + "\n" : removal.list) }
    if !yes { try removal.confirm(mayPrompt: access.mayPrompt) }
    let writes = try removal.perform(by: Self.self, on: vault)
    vault.recordChange(by: Self.self, messages)
    if self.vault.json {
      try Output.write(removal.json(removal.count))
    } else {
      messages.tell("\(counted(removal.count, "key", "keys")) removed")
      for write in writes where !now {
        let name = write.group.name.text
        let isDefault = writes.count == 1 && record.group == nil && name == AccessGroup.defaultName
        let undo = UndoWrite.command(String(write.revision), group: isDefault ? nil : name, access.namingOptions)
        messages.tell(
          "\(undo) undoes the removal" + (writes.count > 1 ? " in the access group \(displayed(name))" : ""))
      }
    }
  }

  /// The keys that were removed earlier and are kept.
  private func removedBefore(
    _ names: Set<Vault.Name>, _ place: RecordPlace, in group: AccessGroup, of vault: Vault
  ) throws(VaultError) -> Set<Vault.Name> {
    var removed: Set<Vault.Name> = []
    for name in names where try vault.removedRecord(service: place.service, key: name.text, in: group) != nil {
      removed.insert(name)
    }
    return removed
  }
}
