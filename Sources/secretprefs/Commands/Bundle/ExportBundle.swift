internal import ArgumentParser
internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// `secretprefs bundle export`.
struct ExportBundle: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Exports selected keys and their values to a bundle.",
    usage: "secretprefs bundle export [<options>] --to <file> (<key> ... | --all)",
    discussion: """
      The bundle opens with a new raw key in a new file, or with a passphrase, which should not be in use elsewhere. \
      It includes label, comment, attributes, expiry and accessibility, but no earlier values. Values bound to a \
      device key cannot be exported.

      EXAMPLE:
        secretprefs bundle export --to t.spv --new-key-file t.key github gitlab
        secretprefs bundle export --to shop.spv --service com.example.shop --all
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(help: ArgumentHelp("The path of the bundle, which must not exist.", valueName: "file"), completion: .file())
  var to: String

  @Flag(help: "Export all keys of the service.")
  var all = false

  @Option(
    help: ArgumentHelp("Create this file with a new raw key for the bundle.", valueName: "file"), completion: .file())
  var newKeyFile: String?

  @OptionGroup var passphrase: NewPassphraseOptions

  @Argument(help: ArgumentHelp("The keys.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard keys.isEmpty == all else { throw Self.usageError("either keys or --all are required") }
    guard newKeyFile == nil || passphrase.newPassphraseFd == nil else {
      throw ToolError.usage("--new-key-file and --new-passphrase-fd cannot be used together", hint: "use one of them")
    }
    if newKeyFile != nil { try passphrase.refuseFlags() }
    let access = try unlock.complete(try vault.access())
    try passphrase.check(besides: access)
    let (place, keys) = try record.named(keys)
    let names = Set(keys)
    for name in names { _ = try Vault.Name(name) }
    try VaultLocation(argument: to).refuseIfOccupied("the bundle")
    try access.checkOutput(to, as: "--to", kind: .vault)
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let records =
      all
      ? try vault.records(service: place.service, in: group)
      : try names.compactMap { (name) throws(VaultError) in
        try vault.record(service: place.service, key: name, in: group)
      }
    guard !records.isEmpty, all || records.count == names.count else {
      throw try missing(keys, names.subtracting(records.map(\.key.text)), place, group, vault)
    }
    // A bundle has no earlier values. One of all keys is no step of a rotation.
    if !all { try RotationMark.refuse(records.map { ListedRecord(group: group, info: $0) }) }
    let file = try newKeyFile.map { try NewKeyFile(at: $0, besides: access, and: to) }
    let slot = try file.map { NewSlot(.key($0.key), label: "bundle") } ?? passphrase.slot("bundle", access)
    do throws(VaultError) { try vault.exportBundle(records, of: group, to: to, slot: slot) } catch {
      file?.remove(after: error)
      throw error
    }
    Output.recordChange(by: Self.self)
    guard self.vault.json else { return }
    try Output.write(.object([("bundle", .string(to)), ("exported", .unsigned(UInt64(records.count)))]))
  }

  private func missing(
    _ keys: [String], _ missing: Set<String>, _ place: RecordPlace, _ group: AccessGroup, _ vault: Vault
  ) throws -> ToolError {
    guard !all else { return .emptyService }
    guard keys.count > 1 else { return try place.noSuchKey(keys[0], in: group, of: vault) }
    return .missing(missing, "nothing was exported", listing: place.keysHint)
  }
}
