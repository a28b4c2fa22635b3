internal import ArgumentParser
internal import VaultCore

/// `secretprefs git-textconv`, which git starts for `git diff`.
struct GitTextconv: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "git-textconv",
    abstract: "Shows the names in a vault, for git diff.",
    usage: "secretprefs git-textconv [<options>] <file>",
    discussion: """
      For a vault that is kept in a git repository: "git diff", "git log -p" and "git show" then show which keys were \
      added, changed and removed. Writes one line for each key: group, service, key, revision, kind and the time of \
      the last change, with tabs between them; before them a line for each access group and for each slot. No value is \
      opened. A vault that the credential does not open has one line, which says so, and which changes with each \
      write; so has a version of the file that is damaged. The key of "secretprefs unlock" is used as by other \
      commands. A rollback mark is not: the versions that git has are older by their nature.

      The names are in what git prints, so do not set cachetextconv, which keeps them in the repository. Never \
      prompts. git gives files the modes of the umask, and a vault that other users may access is refused by other \
      commands: set "umask 077", or "chmod 600" after a checkout. The attribute -text keeps git from converting line \
      ends in the vault, which destroys it.

      EXAMPLE:
        echo '*.spv -text diff=secretprefs merge=secretprefs' >> .gitattributes
        git config diff.secretprefs.textconv 'secretprefs git-textconv'
        git config merge.secretprefs.driver 'secretprefs git-merge %O %A %B'
        git config merge.secretprefs.recursive binary
        git diff HEAD~ -- secrets.spv
      """)

  @Flag(help: .jsonMessages)
  var json = false

  @OptionGroup var unlock: CredentialOptions

  @Argument(help: ArgumentHelp("The file.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    let access = try unlock.complete(try VaultAccess(VaultLocation(argument: file)))
    do { try write(try VaultLocation(copyOf: file), access, messages) } catch let error as VaultError {
      // git would end at an error, and show nothing of the other files.
      guard [.badFile, .tampered].contains(ExitStatus(error.code)) else { throw error }
      messages.warn("\(displayed(error.message))")
      try Output.write("not opened: \(error.code)\n")
    }
  }

  private func write(_ location: VaultLocation, _ access: VaultAccess, _ messages: Messages) throws {
    var access = access
    access.location = location
    access.markPath = nil
    access.mayPrompt = false
    let names: VaultNames?
    do {
      guard let opened = try access.openIfConfigured(messages) else { throw Self.noCredential }
      if let torn = try opened.vault.tornTail { messages.warn("\(torn.words)") }
      names = try VaultNames(of: opened.vault)
    } catch let error as VaultError where Self.isClosed(error) {
      if error.code != .noCredential { messages.warn("\(displayed(error.message))") }
      names = nil
    }
    let info = try access.info()
    guard let names else {
      let entries = counted(info.entryCount, "entry", "entries")
      return try Output.write("not opened: write \(info.generation), \(entries), \(info.fileBytes) bytes\n")
    }
    try Output.write(names.lines.map { $0 + "\n" }.joined())
  }

  private static let noCredential = VaultError(.noCredential, "no credential is configured")

  /// Whether the error is about the credential. The vault itself is in memory, so no other file can be at fault.
  private static func isClosed(_ error: VaultError) -> Bool {
    [.noCredential, .credentialRejected, .staleCredential, .io, .insecurePermissions, .invalidKeyText].contains(
      error.code)
  }
}
