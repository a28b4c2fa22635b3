internal import DurableFiles
internal import Secrets
internal import VaultCore

/// Checks a vault from its path to its values. Continues after a problem where that is possible.
struct Examination {
  private(set) var report = DoctorReport()
  private let access: VaultAccess
  /// The key files that others have access to.
  private let exposed: [(kind: CredentialFile, path: String, mode: mode_t)]
  private let expiry: ExpiryRule

  /// - Parameters:
  ///   - leftovers: What interrupted writes left.
  ///   - expiry: When values are named that will expire.
  ///   - asks: Whether to prompt for a passphrase if no credential is configured.
  /// - Throws: Errors that are not findings about the vault, such as a failing system call.
  init(
    _ access: VaultAccess, leftovers: Leftovers, expiry: ExpiryRule, asks: Bool, _ messages: Messages
  ) throws {
    self.access = access
    self.expiry = expiry
    exposed = try access.keyFiles.compactMap { kind, path in
      guard let mode = ExaminedPath(path).status()?.st_mode, mode & 0o026 != 0, !MountedSecret.isAt(path) else {
        return nil
      }
      return (kind, path, mode)
    }
    report.problems =
      try
      (access.location.path.map { try PathExamination($0, access).problems }
      ?? access.location.serverProblems)
      + keyFileProblems + leftovers.problems + keptKeyProblems()
    let requests = try RequestsExamination(access)
    report.problems += requests.problems
    report.unseen += requests.unseen
    let vault = try examineFile(asks: asks, messages)
    if let path = access.markPath { try examineMark(at: path, vault) }
    report.problems += try ProcessExamination().problems
    // A credential that opens nothing, or no owner's, is of no use to the other commands.
    let isOwner = try vault?.isOwner ?? false
    report.complete { messages.given.completed($0, withCredential: isOwner) }
  }

  /// Whether an error is a finding about the vault, and not about the system or the arguments.
  static func isFinding(_ error: VaultError) -> Bool {
    [
      .notAVault, .unsupportedVersion, .unsupportedFeature, .malformed, .limitExceeded, .kdfRefused, .damaged,
      .tampered, .invalidName, .markMissing, .credentialRejected, .staleCredential, .insecurePermissions,
      .invalidKeyText,
    ].contains(error.code)
  }

  private static let keyFileMode = "keyFileMode"

  private var keyFileProblems: [Problem] {
    exposed.map { kind, path, mode in
      Problem(
        .error, Self.keyFileMode,
        "others have access to \(kind.rawValue) \(displayed(path)): its mode is \(octal(mode))",
        repair: UnsafeFile.hint(ofUnchangeable: ExaminedPath(path)) ?? Repair.permissions.command)
    }
  }

  /// A key that is kept for all processes of the user.
  private func keptKeyProblems() throws(VaultError) -> [Problem] {
    guard let kept = try KeptKey.keptForUser(access.location) else { return [] }
    let end = Timestamp.text(of: kept.limits.systemEnd)
    guard let objection = UserKeyringPermission.objection else {
      return [
        Problem(
          .advice, "unlockedForUser", "\(kept.reach), can use a kept key until \(end)",
          repair: "secretprefs lock, when it is not needed")
      ]
    }
    return [
      Problem(
        .warning, "unlockedAgainstRule",
        "\(kept.reach), can read a kept key until \(end); no command uses it, because \(displayed(objection.message))",
        repair: "secretprefs lock")
    ]
  }

  /// - Returns: The vault, if it was unlocked and all its groups verify.
  private mutating func examineFile(asks: Bool, _ messages: Messages) throws -> Vault? {
    let contents = "access groups, values and expiries"
    var access = access
    access.markPath = nil
    // Problems of the path are already reported and must not prevent checking the contents.
    access.pathPolicy = .relaxed
    do throws(VaultError) {
      report.problems += try access.info().problems
      // A mounted file cannot be replaced, so it cannot be compacted.
      if report.problems.contains(where: { PathExamination.mounts.contains($0.name) }) {
        report.problems.removeAll { $0.name == VaultInfo.longJournal }
      }
    } catch {
      try note(access.cured(error))
      report.unseen.append(("slots, journal, " + contents, "the check of the file stops at its first error"))
      return nil
    }
    do {
      if let vault = try asks ? access.open(messages) : access.openIfConfigured(messages)?.vault {
        return try examine(vault, ProgressLine("examining", messages)) ? vault : nil
      }
      report.unseen.append((contents, "no passphrase or key is configured; --unlock prompts for a passphrase"))
    } catch let error as VaultError {
      try note(error)
      report.unseen.append((contents, "the vault could not be opened"))
    }
    return nil
  }

  private mutating func examine(_ vault: Vault, _ progress: ProgressLine?) throws(VaultError) -> Bool {
    if try !vault.isOwner { report.problems.removeAll { $0.name == VaultInfo.oneOwner } }
    let found = try VaultExamination(vault, access, expiry: expiry, progress: progress)
    report.problems += found.problems
    report.unseen += found.unseen
    return found.isWhole
  }

  private static let accepting = "secretprefs mark accept"

  private mutating func examineMark(at path: String, _ vault: Vault?) throws(VaultError) {
    do throws(VaultError) {
      let mark = try RollbackMark(at: path)
      guard let vault else {
        return report.unseen.append(("the mark", "comparing it needs the unlocked vault"))
      }
      guard try vault.currentMark().vaultID == mark.vaultID else {
        return report.problems.append(
          Problem(
            .error, VaultError.Code.tampered.rawValue, "the mark belongs to a different vault",
            repair: "check the paths of the vault and the mark; \(Self.accepting), if the vault was exchanged on "
              + "purpose"))
      }
      let comparison = try MarkComparison(mark, vault)
      if let refusal = comparison.refusal {
        report.problems.append(
          Problem(
            .error, refusal.code.rawValue, refusal.message,
            repair: "secretprefs backup restore; or \(Self.accepting), if an older copy was restored on purpose"))
      } else if try Self.isLogBehind(mark, vault) {
        report.problems.append(
          Problem(
            .error, VaultError.Code.rolledBack.rawValue,
            "a log is not the one that the mark names: an earlier one was put back",
            repair: "secretprefs audit verify names it; or \(Self.accepting), if it was put back on purpose"))
      } else if comparison.isAhead {
        let folder = ExaminedPath(path).directory
        let isWritable = folder.isWritable
        report.problems.append(
          Problem(
            .advice, "markBehind",
            "the mark was not raised after the last writes" + (isWritable ? "" : ", and its directory is not writable"),
            repair: (isWritable ? "" : "make \(shellPath(folder.path)) writable for the user who writes; then ")
              + "run secretprefs verify, which raises the mark"))
      }
    } catch {
      report.unseen.append(("the mark", "it could not be compared"))
      try note(error, repair: repair(ofMark: error))
    }
  }

  /// What to do about a mark that cannot be read; `nil` for what the error's code says.
  private func repair(ofMark error: VaultError) -> String? {
    guard error.code != .malformed else { return Hints.brokenMark }
    guard let file = UnsafeFile(error, access) else { return nil }
    return PermissionRepair.repair(ofMarkOf: access) ?? file.hint
  }

  /// Whether the log of a group is a different one than the mark names, although it has as many events.
  private static func isLogBehind(_ mark: RollbackMark, _ vault: Vault) throws(VaultError) -> Bool {
    for group in try vault.groups() where try vault.isAuditLog(of: group, behind: mark) { return true }
    return false
  }

  /// Records an error as a problem. Rethrows it if it is not a finding.
  private mutating func note(_ error: VaultError, repair: String? = nil) throws(VaultError) {
    guard Self.isFinding(error) || error.code == .io else { throw error }
    guard !isReported(error) else { return }
    let hint =
      switch error.code {
      case .tampered: Hints.restoreOrSalvage
      case .io where error.errno == EACCES: "check the owner and the mode of the file, and of the directories above it"
      case .io: "check that the file exists and is readable; if it is, check the disk"
      default: ToolError(error).hint ?? ""
      }
    report.problems.append(Problem(.error, error.code.rawValue, displayed(error.message), repair: repair ?? hint))
  }

  /// Whether the checks of the path and the key files have reported the mode that an error is about.
  private func isReported(_ error: VaultError) -> Bool {
    guard error.code == .insecurePermissions else { return false }
    return switch error.subject {
    case .credential(_, let path): exposed.contains { $0.path == path }
    case .mark: false
    default: report.problems.contains { $0.severity == .error && $0.name != Self.keyFileMode }
    }
  }
}
