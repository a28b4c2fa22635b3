internal import VaultCore

/// The messages about the broken end of a journal (`Docs/Format.md` 10.3).
extension Vault.TornTail {
  /// What is known, in one sentence.
  var words: String {
    "the journal ends with \(isSeveralEntries ? "more than one broken entry" : "a broken entry"): either a write was "
      + "interrupted, or acknowledged writes were damaged later; the file does not show which; \(extent)"
  }

  private var extent: String {
    guard let entryLimit else { return "the file was cut off, so the number of missing entries is unknown" }
    return "there is room for at most \(counted(entryLimit, "missing entry", "missing entries"))"
  }

  static let repair = "copy the file and check whether the newest changes are present, also against a mark or a backup"

  /// The warning of a command that continues without the entries.
  ///
  /// - Parameters:
  ///   - path: `nil` for a vault in a database.
  ///   - role: Names a file that the command copies from and does not change.
  func warning(_ path: String?, _ role: VaultRole?) -> String {
    if let role, role != .vault { return "in \(role.rawValue), \(words). The broken bytes are not copied" }
    guard let path else { return "\(words). The next write drops the broken bytes: keep a dump of the database first" }
    return "\(words). The next write saves the broken bytes in \(displayed(path)).torn"
  }
}
