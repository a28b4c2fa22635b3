internal import ArgumentParser
internal import VaultCore

/// `secretprefs remove`.
struct Remove: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes keys and their values.",
    usage: "secretprefs remove [<options>] <key> ...",
    discussion: """
      All in one transaction. A key that was not there is reported with exit code 1; the others are gone. \
      The sealed bytes stay in the file until it is written anew.

      EXAMPLE:
        secretprefs remove github
        secretprefs remove --service com.example.shop old-token older-token
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(help: ArgumentHelp("The keys.", valueName: "key"))
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard !keys.isEmpty else {
      throw ToolError.usage("no key is given", hint: "secretprefs remove [<options>] <key> ...")
    }
    let access = try unlock.complete(try vault.access())
    let service = try Vault.Name(record.service)
    var names: Swift.Set<Vault.Name> = []
    for key in keys { names.insert(try Vault.Name(key)) }
    let vault = try access.open(messages)
    let group = try vault.group(named: record.group)
    let removed = try vault.update(service: service, in: group) { (batch) throws(VaultError) in
      for name in names { try batch.remove(name) }
    }
    vault.tellMark(messages)
    guard removed == names.count else {
      throw names.count == 1 ? ToolError.noSuchKey : ToolError.someMissing(removed: removed, of: names.count)
    }
    if self.vault.json { try Output.write(.object([("removed", .unsigned(UInt64(removed)))])) }
  }
}
