internal import ArgumentParser
internal import VaultCore

/// `secretprefs history restore`.
struct RestoreValue: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes an earlier value the current one, or restores a removed key.",
    usage: "secretprefs history restore [<options>] <key> [<revision>]",
    discussion: """
      The current value becomes an earlier one, so the command can be undone. As with "secretprefs set", label, \
      comment and attributes are kept and the expiry is removed.

      A removed key gets its value, its metadata and its earlier values back; with an older revision, that value, \
      without an expiry. The revision is required for a key that exists.

      EXAMPLE:
        secretprefs history restore github 7
        secretprefs history restore removed-key
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
    guard let word = words.first, words.count <= 2 else { throw Self.usageError("a key and a revision are required") }
    let (place, key) = try record.named(word)
    let name = try Vault.Name(key)
    let wanted = try words.dropFirst().first.map { (text) throws(ToolError) in
      guard let revision = UInt64(text) else {
        throw ToolError.usage("a revision must be a whole number", hint: Hints.revisions)
      }
      return revision
    }
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let removed = try vault.removedRecord(service: place.service, key: key, in: group)
    guard let revision = wanted ?? removed?.previous.first?.revision else {
      if try vault.record(service: place.service, key: key, in: group) == nil {
        throw try place.noSuchKey(key, in: group, of: vault)
      }
      throw ToolError.usage("the key was not removed: a revision is required", hint: Hints.revisions)
    }
    do throws(VaultError) {
      try vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
        // A key that was set in between keeps its value.
        try batch.restore(key, revision: revision, ifRevision: removed == nil ? nil : 0)
      }
    } catch {
      guard error.code == .notFound else { throw error }
      throw ToolError(error, hint: Hints.revisions)
    }
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("key", .string(name.text)), ("restored", .unsigned(revision)),
      ]))
  }
}
