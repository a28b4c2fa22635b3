internal import ArgumentParser
internal import VaultCore

/// `secretprefs bundle import`.
struct ImportBundle: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports the keys and values of a bundle.",
    usage: "secretprefs bundle import [<options>] <file>",
    discussion: """
      Imports all keys into one access group in one transaction. They keep their services. If a key exists, nothing \
      is imported unless --replace is given; replaced values are kept as earlier ones, but not their label, comment, \
      attributes and expiry. "secretprefs history undo" undoes the import of the values. The bundle does not change: \
      remove it after the import. The vault and the bundle have separate credentials: prompts and errors name the file \
      they refer to, and credentials in the environment apply only to the vault.

      EXAMPLE:
        secretprefs bundle import t.spv --bundle-key-file t.key
        secretprefs bundle import t.spv --group billing --replace
        secretprefs bundle import t.spv --bundle-passphrase-fd 3 3< passphrase.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    help: ArgumentHelp(
      "The access group to import into.",
      discussion: ToolSetting.group.places + ToolSetting.soleGroup, valueName: "name"),
    completion: .groups)
  var group: String?

  @Option(
    help: ArgumentHelp("Unlock the bundle with the raw key in this file.", valueName: "file"), completion: .file())
  var bundleKeyFile: String?

  @Option(
    help: ArgumentHelp("Unlock the bundle with the passphrase read from this descriptor.", valueName: "number"))
  var bundlePassphraseFd: Int32?

  @Flag(help: "Replace existing keys.")
  var replace = false

  @Argument(help: ArgumentHelp("The bundle.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    guard bundleKeyFile == nil || bundlePassphraseFd == nil else {
      throw ToolError.usage(
        "--bundle-key-file and --bundle-passphrase-fd cannot be used together", hint: "use one of them")
    }
    try refuseDash(reading: bundleKeyFile, as: "--bundle-key-file")
    var access = try unlock.complete(try vault.access())
    access.role = .vault
    if let bundlePassphraseFd {
      _ = try PassphraseDescriptor.check(bundlePassphraseFd, of: "--bundle-passphrase-fd")
      try PassphraseDescriptor.checkDistinct([bundlePassphraseFd] + [access.passphraseDescriptor].compactMap(\.self))
    }
    let vault = try access.open(messages)
    let group = try RecordPlace(service: nil, group: group).group(in: vault)
    let (count, revision) = try take(try bundle(file, access, messages), into: group, of: vault)
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else {
      let named = try self.group ?? Configuration.value(of: .group)
      let undo = UndoWrite.notice(UndoWrite.text(revision...revision), group: named, access.namingOptions)
      return try Output.write("\(counted(count, "key", "keys")) imported\n\(revision > 0 ? undo + "\n" : "")")
    }
    try Output.write(
      .object([
        ("group", .string(group.name.text)), ("imported", .unsigned(UInt64(count))),
        ("revision", revision > 0 ? .unsigned(revision) : .null),
      ]))
  }

  private func take(_ bundle: Vault, into group: AccessGroup, of vault: Vault) throws -> (Int, UInt64) {
    if replace {
      for source in try bundle.groups() {
        for record in try bundle.records(in: source) {
          try RotationMark.refuse(vault.record(service: record.service, key: record.key.text, in: group))
        }
      }
    }
    do throws(VaultError) { return try vault.importRecords(of: bundle, into: group, replacing: replace) } catch {
      guard error.code == .alreadyExists, !replace else { throw error }
      throw ToolError(error, hint: "--replace replaces existing keys")
    }
  }

  /// Opens and verifies the bundle, so that an error in it is not reported as an error of the vault.
  private func bundle(_ file: String, _ access: VaultAccess, _ messages: Messages) throws -> Vault {
    var access = access
    access.location = VaultLocation(argument: file)
    access.role = .bundle
    access.keyFile = bundleKeyFile
    access.passphraseDescriptor = bundlePassphraseFd
    access.passphraseCommand = nil
    // The mark belongs to the vault, not to the bundle.
    access.markPath = nil
    do throws(VaultError) {
      return try access.withCredential(messages) { (credential) throws(VaultError) in
        let bundle = try Vault.open(at: file, credential: credential, options: access.options)
        _ = try bundle.verify()
        return bundle
      }
    } catch { throw access.explained(error) }
  }
}
