internal import VaultCore

/// The messages about a broken last journal entry (`Docs/Format.md` 10.3).
enum TornTail {
  static let words =
    "the last journal entry is broken: either a write was interrupted, or an acknowledged write was damaged later; "
    + "the file does not show which"

  static let repair = "copy the file and check whether the newest changes are present, also against a mark or a backup"

  /// The warning of a command that continues without the entry.
  static func warning(_ path: String) -> String {
    "\(words). Its changes are missing; the next write saves its bytes in \(displayed(path)).torn"
  }
}
