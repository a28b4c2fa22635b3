internal import ArgumentParser
internal import VaultCore

/// `secretprefs remove`.
struct Remove: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes keys and their values.",
    usage: "secretprefs remove [<options>] <key> ...",
    discussion: """
      Removes all keys in one transaction. If some do not exist, the others are removed and the exit code is 1.

      Removed keys are kept for 30 days with their values and metadata: "secretprefs history removed" lists them, and \
      "secretprefs history restore" restores one. To all other commands they do not exist. The first write after that \
      time drops them. With --now the keys are gone for good with their earlier values, also keys that were removed \
      before. Their sealed bytes stay in the file until "secretprefs compact" or another full write, and in every \
      copy of the file that was made before.

      EXAMPLE:
        secretprefs remove github
        secretprefs remove --service com.example.shop old-token older-token
        secretprefs remove --now leaked-token
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "Do not keep the keys, and drop those that were removed before.")
  var now = false

  @Argument(help: ArgumentHelp("The keys.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
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
        removed == 0 ? "nothing was removed" : "the others were removed")
    }
    if self.vault.json { try Output.write(.object([("removed", .unsigned(UInt64(removed))), ("kept", .bool(!now))])) }
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
