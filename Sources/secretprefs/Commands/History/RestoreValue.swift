internal import ArgumentParser
internal import VaultCore

/// `secretprefs history restore`.
struct RestoreValue: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes an earlier value the current one.",
    usage: "secretprefs history restore [<options>] <key> <revision>",
    discussion: """
      The current value becomes an earlier one, so the command can be undone. As with "secretprefs set", label, \
      comment and attributes are kept and the expiry is removed.

      EXAMPLE:
        secretprefs history restore github 7
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(
    help: ArgumentHelp(
      "The key, and the revision of the earlier value from \"secretprefs history\".", valueName: "key"),
    completion: .keys)
  var words: [String] = []

  func perform(_ messages: Messages) throws {
    guard words.count == 2 else { throw Self.usageError("a key and a revision are required") }
    let place = try record.place()
    let key = try Vault.Name(words[0])
    guard let revision = UInt64(words[1]) else {
      throw ToolError.usage("a revision must be a whole number", hint: Hints.revisions)
    }
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    do throws(VaultError) {
      try vault.update(service: place.service, in: group) { (batch) throws(VaultError) in
        try batch.restore(words[0], revision: revision)
      }
    } catch {
      guard error.code == .notFound else { throw error }
      throw ToolError(error, hint: Hints.revisions)
    }
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("key", .string(key.text)), ("restored", .unsigned(revision)),
      ]))
  }
}
