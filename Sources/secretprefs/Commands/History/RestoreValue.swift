internal import ArgumentParser
internal import VaultCore

/// `secretprefs history restore`.
struct RestoreValue: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes a kept earlier value the current one.",
    usage: "secretprefs history restore [<options>] <key> <revision>",
    discussion: """
      The present value joins the earlier ones, so this can be undone. As when a value is set, label, comment and \
      attributes stay and an expiry goes.

      EXAMPLE:
        secretprefs history restore github 7
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(
    help: ArgumentHelp(
      "The key, and the revision of the earlier value as \"secretprefs history\" lists it.", valueName: "key"))
  var words: [String] = []

  func perform(_ messages: Messages) throws {
    guard words.count == 2 else { throw Self.misused("a key and a revision are needed") }
    let place = try record.place()
    let key = try Vault.Name(words[0])
    guard let revision = UInt64(words[1]) else {
      throw ToolError.usage("a revision is a whole number", hint: Hints.revisions)
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
    vault.noteChange(messages)
    guard self.vault.json else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("key", .string(key.text)), ("restored", .unsigned(revision)),
      ]))
  }
}
