internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// `secretprefs backup restore`.
struct RestoreBackup: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restores the vault from a backup.",
    usage: "secretprefs backup restore [<options>] <file>",
    discussion: """
      The backup is verified first, with a credential that it has, and does not change. If the path contains another \
      state of the same vault, damaged or not, the command shows the generations of both and asks for confirmation; \
      other files are never replaced. The replaced vault is kept beside the new one, in a database under another name, \
      and its place is printed; with --no-copy its changes since the backup are lost. Credentials that were removed \
      since the backup open the vault again, and those that were added no longer do: the command names their slots \
      before it asks, and the pin of the backup if holders by public key need it again. A mark refuses the restored \
      vault until you run "secretprefs mark accept".

      EXAMPLE:
        secretprefs backup restore /var/backups/shop/secrets.spv
        secretprefs backup restore /var/backups/shop/secrets.spv --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Replace the existing vault without confirmation.")
  var yes = false

  @Flag(help: "Do not keep a copy of the replaced vault.")
  var noCopy = false

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    let access = try unlock.complete(try vault.access())
    var backup = access
    backup.location = VaultLocation(argument: file)
    backup.markPath = nil
    backup.role = .backup
    backup.progress = ProgressLine("verifying", messages)
    let (copy, credential) = try backup.openKeepingCredential(messages)
    let report: VerificationReport
    do throws(VaultError) { report = try copy.verify() } catch { throw backup.explained(error) }
    let options = try backup.unlockedOptions(messages)
    let isBehind = try isBehindMark(copy, access, messages)
    let replaces = try access.location.isOccupied
    var slots: SlotDifference?
    if replaces {
      let (existing, state) = try existingState(access, vaultID: report.status.vaultID, options: options)
      let info = try VaultInfo(at: file, options: options)
      slots = SlotDifference(
        vault: existing, { .replaced(access, credential, options) }, backup: info, try OwnedSlots(of: copy))
      slots?.warn(messages)
      let points = "vault \(state), the backup is at \(info.point)"
      if !yes {
        try Prompt.confirm(
          "The \(points). Replace the vault\(noCopy ? " and lose all changes since the backup" : "")?",
          otherwise: "the \(points)\(noCopy ? "; changes since the backup would be lost" : "")",
          mayPrompt: access.mayPrompt)
      }
    }
    let kept = try replaces && !noCopy ? access.location.free("replaced-\(DatedCopies.text(of: options.now()))") : nil
    do throws(VaultError) {
      var keptOptions = options
      // The copy has the bytes of the file, with its reserve.
      keptOptions.reserveBytes = 0
      try Vault.restore(
        .file(file, options: options), to: access.location.storage(options), credential: credential,
        replacing: replaces, keepingReplacedIn: kept?.storage(keptOptions), options: options)
    } catch {
      guard replaces, [.alreadyExists, .limitExceeded].contains(error.code) else { throw error }
      throw ToolError(error, hint: Self.moveAway(access.location))
    }
    Output.recordChange(by: Self.self)
    if isBehind {
      messages.warn("the restored vault is older than its mark; run \"secretprefs mark accept\" to use it")
    }
    guard vault.json else {
      if let kept { try Output.write("the replaced vault is kept: \(displayed(kept.name))\n") }
      return
    }
    var answer: [(String, JSON)] = [
      ("vault", .string(access.location.name)), ("replaced", .bool(replaces)),
      ("generation", .unsigned(report.status.generation)), ("values", .unsigned(UInt64(report.values))),
      ("behindMark", .bool(isBehind)), ("tornTail", .bool(report.status.hasTornTail)),
    ]
    if let slots { answer += slots.members }
    if let kept { answer.append(("kept", .string(kept.name))) }
    try Output.write(.object(answer))
  }

  /// Whether a configured mark will refuse the restored vault. The logs stay where they are. A missing mark is only a
  /// warning, because it may be lost together with the vault.
  private func isBehindMark(_ copy: Vault, _ access: VaultAccess, _ messages: Messages) throws -> Bool {
    guard let path = access.markPath else { return false }
    do {
      return try MarkComparison(try RollbackMark.read(at: path), copy).refusalOfVault != nil
    } catch let error as VaultError {
      guard error.code == .markMissing else { throw error }
      messages.warn("the configured mark is missing; \"secretprefs mark init\" creates one")
      return false
    }
  }

  /// Describes the state of the vault to be replaced. It is `nil` if it cannot be read.
  private func existingState(
    _ access: VaultAccess, vaultID: Vault.Identifier, options: Vault.Options
  ) throws -> (vault: VaultInfo?, state: String) {
    let existing: VaultInfo
    do throws(VaultError) { existing = try VaultInfo(in: access.location.storage(options), options: options) } catch {
      // Damage is a reason to restore. `Vault.restore` compares the vault ids again before it replaces the file.
      guard [.damaged, .malformed, .limitExceeded, .kdfRefused].contains(error.code) else {
        throw access.explained(error)
      }
      return (nil, "cannot be read (\(displayed(error.message)))")
    }
    guard existing.vaultID == vaultID else {
      throw ToolError(
        VaultError(.alreadyExists, "\(access.location.name): \(access.location.what) is not a state of the same vault"),
        hint: Self.moveAway(access.location))
    }
    return (existing, "is at \(existing.point)")
  }

  private static func moveAway(_ location: VaultLocation) -> String {
    location.otherVault
      + (location.movingAway.map { "; to put the backup there, move the file away first: \"\($0)\"" } ?? "")
  }
}

extension VaultInfo {
  /// Describes the state as far as it can be read without a key.
  fileprivate var point: String {
    "generation \(generation) with \(counted(entryCount, "journal entry", "journal entries"))"
  }
}
