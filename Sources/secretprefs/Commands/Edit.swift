internal import ArgumentParser
internal import VaultCore

/// `secretprefs edit`.
struct Edit: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Changes the metadata of a key and keeps its value.",
    usage: "secretprefs edit [<options>] <key>",
    discussion: """
      Metadata is the label, the comment, attributes, the expiry and the number of earlier values to keep. \
      Metadata that no option names does not change. It is sealed in the vault, but other users of the machine \
      can see the arguments while the command runs: do not put a secret there. "secretprefs info" shows the metadata.

      EXAMPLE:
        secretprefs edit github --label "deploy token" --expiry 90d
        secretprefs edit github --attribute owner=ops --no-comment
        secretprefs edit github --history 5
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions
  @OptionGroup var metadata: MetadataOptions

  @Argument(help: ArgumentHelp("The key.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let key = try Self.sole(keys, "key")
    guard !metadata.isEmpty else {
      throw ToolError.usage("no change is given", hint: "\"secretprefs help edit\" lists the options")
    }
    let access = try unlock.complete(try vault.access())
    let place = try record.place()
    let name = try Vault.Name(key)
    let change = try MetadataChange(metadata, now: access.options.now())
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let (edit, revision) = try change.resolved { () throws(VaultError) in
      try vault.record(service: place.service, key: key, in: group)
    }
    do throws(VaultError) {
      try vault.update(service: place.service, in: group) { (batch) throws(VaultError) in
        try batch.edit(key, edit, ifRevision: revision)
      }
    } catch {
      guard error.code == .notFound else { throw error }
      throw try place.noSuchKey(key, in: group, of: vault)
    }
    vault.recordChange(messages)
    guard self.vault.json else { return }
    try Output.write(.object([("service", .string(place.service.text)), ("key", .string(name.text))]))
  }
}
