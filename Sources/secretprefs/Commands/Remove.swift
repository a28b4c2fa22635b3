internal import ArgumentParser
internal import VaultCore

/// `secretprefs remove`.
struct Remove: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes keys and their values.",
    usage: "secretprefs remove [<options>] <key> ...",
    discussion: """
      Removes all keys in one transaction. If some do not exist, the others are removed and the exit code is 1. The \
      sealed bytes stay in the file until "secretprefs compact" or another full write.

      EXAMPLE:
        secretprefs remove github
        secretprefs remove --service com.example.shop old-token older-token
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(help: ArgumentHelp("The keys.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard !keys.isEmpty else { throw Self.usageError("no key is given") }
    let access = try unlock.complete(try vault.access())
    let place = try record.place()
    var names: Set<Vault.Name> = []
    for key in keys { names.insert(try Vault.Name(key)) }
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let removed = try vault.update(service: place.service, in: group) { (batch) throws(VaultError) in
      for name in names { try batch.remove(name) }
    }
    if removed > 0 { vault.recordChange(by: Self.self, messages) }
    guard removed == names.count else {
      guard names.count > 1 else { throw try place.noSuchKey(keys[0], in: group, of: vault) }
      throw removed == 0
        ? ToolError.missing(names.count, "removed") : ToolError.someMissing(removed: removed, of: names.count)
    }
    if self.vault.json { try Output.write(.object([("removed", .unsigned(UInt64(removed)))])) }
  }
}
