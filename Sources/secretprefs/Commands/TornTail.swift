internal import VaultCore

/// What the tool says of a journal whose last entry is broken (`Docs/Format.md` 10.3).
enum TornTail {
  static let words =
    "the last journal entry is broken: a write that was cut off, or one that was acknowledged and damaged since; "
    + "which of the two cannot be known"

  /// What a command warns of that goes on without the entry.
  static func warning(_ path: String) -> String {
    "\(words). What it changed is missing; the next write keeps its bytes in \(displayed(path)).torn"
  }
}
