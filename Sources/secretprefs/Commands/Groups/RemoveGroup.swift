internal import ArgumentParser
internal import VaultCore

/// `secretprefs groups remove`.
struct RemoveGroup: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes an access group, its records and its slots.",
    usage: "secretprefs groups remove [<options>] <name>",
    discussion: """
      Shows the number of records, removed keys and slots, and asks for confirmation. Removed keys that are kept go \
      with the group, and nothing of it can be undone. Older copies of the file still contain the records.

      EXAMPLE:
        secretprefs groups remove billing
        secretprefs groups remove billing --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Remove without confirmation.")
  var yes = false

  @Argument(help: ArgumentHelp("The group's name.", valueName: "name"), completion: .groups)
  var names: [String] = []

  func perform(_ messages: Messages) throws {
    let name = try Self.sole(names, "name")
    let access = try unlock.complete(try vault.access())
    _ = try Vault.Name(name)
    let vault = try access.open(messages)
    let slots = try vault.slots()
    let group = try vault.grantedGroup(name)
    let records = try vault.records(in: group).count
    let holders = slots.count { $0.group == group.name }
    let now = access.options.now()
    let removed = try vault.removedRecords(in: group).count { $0.keptUntil > now }
    let kept = removed > 0 ? [counted(removed, "removed key", "removed keys")] : []
    let parts = [counted(records, "record", "records")] + kept
    let contents = "\(parts.joined(separator: ", ")) and \(counted(holders, "slot", "slots"))"
    if !yes {
      try Prompt.confirm(
        "Remove the access group \(displayed(group.name.text)) with \(contents)?",
        otherwise: "\(contents) would be removed with the access group", mayPrompt: access.mayPrompt)
    }
    try vault.removeGroup(group)
    vault.recordChange(by: Self.self, messages)
    if self.vault.json {
      try Output.write(
        .object([
          ("group", .string(group.name.text)), ("records", .unsigned(UInt64(records))),
          ("removed", .unsigned(UInt64(removed))), ("slots", .unsigned(UInt64(holders))),
        ]))
    } else if yes {
      messages.warn("removed \(contents) with the access group")
    }
  }
}
