internal import ArgumentParser
internal import VaultCore

/// `secretprefs info`.
struct Info: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows the metadata of a key without decrypting a secret value.",
    usage: "secretprefs info [<options>] <key>",
    discussion: """
      Shows kind, revision and times, the value if it is no secret ("secretprefs set --not-secret"), and the label, \
      comment, expiry, attributes and kept earlier values if there are any. All of it is sealed and authenticated in \
      the file.

      EXAMPLE:
        secretprefs info github
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let record = try ListedRecord(group: group, info: try place.existing(key, in: group, of: vault))
      .showingValue(of: vault)
    let now = access.options.now()
    try self.vault.json
      ? Output.write(record.json(at: now)) : Output.write(record.info.text(at: now, record.value?.short))
  }
}
