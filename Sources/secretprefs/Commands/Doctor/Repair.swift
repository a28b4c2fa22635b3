internal import ArgumentParser
internal import VaultCore

/// The repairs that only `doctor` can make.
enum Repair: String, CaseIterable, ExpressibleByArgument {
  /// Removes excess access for group and others.
  case permissions
  /// Removes the temporary files of interrupted writes.
  case leftovers
  /// Replaces a group that fails verification with an empty one.
  case emptyGroup = "empty-group"
  /// Removes a group that fails verification, and its slots.
  case leaveOutGroup = "leave-out-group"

  var takesGroups: Bool { self == .emptyGroup || self == .leaveOutGroup }

  /// The command that makes the repair.
  func command(_ access: VaultAccess) -> String { "secretprefs doctor --repair \(rawValue)\(access.namingOptions)" }
}
