internal import ArgumentParser

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

  /// The command that makes the repair, to which ``DoctorReport`` adds what names the vault.
  var command: String { "secretprefs doctor --repair \(rawValue)" }
}
