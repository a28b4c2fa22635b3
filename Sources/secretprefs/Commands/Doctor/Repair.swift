internal import ArgumentParser
internal import VaultCore

/// What `doctor` can mend by itself, because no other command does.
enum Repair: String, CaseIterable, ExpressibleByArgument {
  /// Takes rights away that others must not have.
  case permissions
  /// Puts an empty group in the place of one that does not verify.
  case emptyGroup = "empty-group"
  /// Leaves a group that does not verify out, and its slots.
  case leaveOutGroup = "leave-out-group"
}
