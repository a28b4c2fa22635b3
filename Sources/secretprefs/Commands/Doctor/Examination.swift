internal import Glibc
internal import Secrets
internal import VaultCore

/// Looks at a vault from its path to its values, and on after what it finds.
struct Examination {
  private(set) var report = DoctorReport()
  private let access: VaultAccess

  /// - Parameter asks: whether a passphrase is asked for when nothing is configured.
  /// - Throws: what has nothing to do with the vault, such as a system call that fails.
  init(_ access: VaultAccess, asks: Bool, _ messages: Messages) throws {
    self.access = access
    report.problems = try PathExamination(access.location.path).problems + keyFileProblems()
    let vault = try examineFile(asks: asks, messages)
    if let path = access.markPath { try examineMark(at: path, vault) }
    report.problems += try ProcessExamination().problems
  }

  /// Whether an error tells something about the vault, and not about the system or what was asked.
  static func isFinding(_ error: VaultError) -> Bool {
    [
      .notAVault, .unsupportedVersion, .unsupportedFeature, .malformed, .limitExceeded, .kdfRefused, .damaged,
      .tampered, .invalidName, .markMissing, .credentialRejected, .staleCredential, .insecurePermissions,
      .invalidKeyText,
    ].contains(error.code)
  }

  private func keyFileProblems() throws(ToolError) -> [Problem] {
    try access.keyFiles.compactMap { what, path in
      guard let status = FilePlace(path).status(), status.st_mode & 0o026 != 0, !MountedSecret.isAt(path) else {
        return nil
      }
      return Problem(
        .error, "keyFileMode", "others may use \(what) \(displayed(path)): its mode is \(octal(status.st_mode))",
        repair: "secretprefs doctor --repair permissions")
    }
  }

  /// - Returns: the vault, if it was unlocked and all its groups verify.
  private mutating func examineFile(asks: Bool, _ messages: Messages) throws -> Vault? {
    let contents = "access groups, values and expiries"
    var access = access
    access.markPath = nil
    // What is wrong with the path is told already, and shall not keep us from looking inside.
    access.pathPolicy = .relaxed
    do throws(VaultError) {
      report.problems += try VaultSummary(at: access.location.path, options: access.options).problems
    } catch {
      try note(error)
      report.unseen.append(("slots, journal, " + contents, "the file is not read on after the first error"))
      return nil
    }
    do {
      if let vault = try asks ? access.open(messages) : access.openIfConfigured(messages) {
        return try examine(vault, ProgressLine("examining", messages)) ? vault : nil
      }
      report.unseen.append((contents, "no passphrase or key is configured; --unlock asks for a passphrase"))
    } catch let error as VaultError {
      try note(error)
      report.unseen.append((contents, "the vault was not opened"))
    }
    return nil
  }

  private mutating func examine(_ vault: Vault, _ progress: ProgressLine?) throws(VaultError) -> Bool {
    let found = try VaultExamination(vault, now: access.options.now(), progress: progress)
    report.problems += found.problems
    report.unseen += found.unseen
    return found.isWhole
  }

  private mutating func examineMark(at path: String, _ vault: Vault?) throws(VaultError) {
    do throws(VaultError) {
      let mark = try RollbackMark(at: path)
      guard let vault else {
        return report.unseen.append(("the mark", "it takes the vault, unlocked, to compare"))
      }
      let comparison = try MarkComparison(mark, vault)
      if let refusal = comparison.refusal {
        report.problems.append(
          Problem(
            .error, refusal.code.rawValue, refusal.message,
            repair: "secretprefs backup restore; or secretprefs mark accept, if it was put back on purpose"))
      } else if comparison.isAhead {
        report.problems.append(
          Problem(
            .advice, "markBehind", "the mark says less than it could: it was not raised after the last writes",
            repair: "secretprefs verify, which raises it"))
      }
    } catch { try note(error, repair: error.code == .malformed ? Hints.brokenMark : nil) }
  }

  /// Takes an error down as a problem.
  private mutating func note(_ error: VaultError, repair: String? = nil) throws(VaultError) {
    guard Self.isFinding(error) || error.code == .io else { throw error }
    // The path and the key files were looked at by themselves.
    let isTold = error.code == .insecurePermissions && report.problems.contains { $0.severity == .error }
    guard !isTold else { return }
    let hint =
      switch error.code {
      case .tampered, .kdfRefused: Hints.restoreOrSalvage
      case .io: "name a file that can be read; if it is there, look after the disk"
      default: Hints.text(error.code) ?? ""
      }
    report.problems.append(Problem(.error, error.code.rawValue, displayed(error.message), repair: repair ?? hint))
  }
}
