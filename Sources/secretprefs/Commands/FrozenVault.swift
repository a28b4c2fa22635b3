/// The messages about a vault whose file is mounted by itself and was replaced outside (`Docs/Format.md` 4.2).
enum FrozenVault {
  static let words =
    "the mounted file was replaced outside the mount: values are as they were before, and writes are refused"

  /// The warning of a command that continues with the old state.
  ///
  /// - Parameter role: Names a file that the command copies from and does not change.
  static func warning(_ role: VaultRole?) -> String {
    let place = role.map { $0 == .vault ? "" : "in \($0.rawValue), " } ?? ""
    return "\(place)\(words); \(Hints.mountDirectory)"
  }
}
