internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// `secretprefs backup restore`.
struct RestoreBackup: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Puts a backup where the vault is to be.",
    usage: "secretprefs backup restore [<options>] <file>",
    discussion: """
      The backup is verified first, with a credential of its time, and stays as it is. If an earlier or later \
      state of the same vault is in the way, damaged or not, the command says how far each has come and asks on \
      the terminal; nothing else is ever replaced. What was written since the backup is lost, and credentials \
      that were removed since open the vault again. A mark refuses the restored vault until "secretprefs mark \
      accept".

      EXAMPLE:
        secretprefs backup restore /var/backups/shop/secrets.spv
        secretprefs backup restore /var/backups/shop/secrets.spv --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Replace what is there without asking.")
  var yes = false

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"))
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    let access = try unlock.complete(try vault.access())
    var backup = access
    backup.location = VaultLocation(argument: file)
    backup.markPath = nil
    backup.progress = ProgressLine("verifying", messages)
    let options = try backup.unlockedOptions()
    let (copy, credential) = try backup.withCredential(messages) { (credential) throws(VaultError) in
      (try Vault.open(at: file, credential: credential, options: options), credential)
    }
    let report = try copy.verify()
    let isBehind = try isBehindMark(copy, access, messages)
    let replaces = try access.location.isOccupied
    if replaces {
      let standing = try standing(access.location, vaultID: report.status.vaultID, options: options)
      let points = "vault \(standing), the backup is at \(try VaultSummary(at: file, options: options).point)"
      if !yes {
        try Prompt.confirm(
          "The \(points). Replace the vault, and lose what was written since?",
          otherwise: "the \(points); what was written since would be lost", mayPrompt: access.mayPrompt)
      }
    }
    try Vault.restore(file, to: access.location.path, credential: credential, replacing: replaces, options: options)
    Output.noteChange()
    if isBehind {
      messages.warn("the restored vault is older than its mark; \"secretprefs mark accept\" allows its use")
    }
    guard vault.json else { return }
    try Output.write(
      .object([
        ("vault", .string(access.location.path)), ("replaced", .bool(replaces)),
        ("generation", .unsigned(report.status.generation)), ("values", .unsigned(UInt64(report.values))),
        ("behindMark", .bool(isBehind)),
      ]))
  }

  /// Whether a configured mark will refuse what is restored. One that was lost with the vault is no hindrance.
  private func isBehindMark(_ copy: Vault, _ access: VaultAccess, _ messages: Messages) throws -> Bool {
    guard let path = access.markPath else { return false }
    do { return try MarkComparison(try RollbackMark.read(at: path), copy).isBehind } catch let error as VaultError {
      guard error.code == .markMissing else { throw error }
      messages.warn("there is no mark where one should be; \"secretprefs mark init\" makes one")
      return false
    }
  }

  /// How far the vault has come that is to be replaced.
  private func standing(_ location: VaultLocation, vaultID: Vault.Identifier, options: Vault.Options) throws -> String {
    do throws(VaultError) {
      let standing = try VaultSummary(at: location.path, options: options)
      guard standing.vaultID == vaultID else {
        throw VaultError(.alreadyExists, "something else than an earlier or later state of this vault is there")
      }
      return "is at \(standing.point)"
    } catch {
      // Damage is a reason to restore. Whose file it is, its header tells when it comes to it.
      guard [.damaged, .malformed, .limitExceeded, .kdfRefused].contains(error.code) else { throw error }
      return "does not open (\(displayed(error.message)))"
    }
  }
}

extension VaultSummary {
  /// How far the file has come, as far as can be told without its keys.
  fileprivate var point: String {
    "generation \(generation) with \(counted(entryCount, "journal entry", "journal entries"))"
  }
}
