internal import DurableFiles
internal import VaultCore

/// A file or a row of a database whose bytes could not be read as a vault, and what a user can do about it.
struct UnreadableVault {
  /// The errors about the bytes.
  private static let codes: [VaultError.Code] = [
    .notAVault, .damaged, .malformed, .limitExceeded, .kdfRefused, .unsupportedVersion, .unsupportedFeature,
  ]
  /// The errors that do not keep `backup restore` from replacing the file, if it has the id of the vault.
  private static let replaceable: [VaultError.Code] = [.damaged, .malformed, .kdfRefused]

  private let location: VaultLocation
  private let code: VaultError.Code
  /// Whether a vault may have been at the path: a regular file that is no text which other users may read.
  private let wasVault: Bool
  /// Whether `backup restore` replaces the file.
  private let isReplaceable: Bool
  /// Whether `salvage` may find something in the file.
  let canBeSalvaged: Bool

  /// `nil` if the error is not about the bytes.
  init?(_ location: VaultLocation, _ error: VaultError) {
    guard Self.codes.contains(error.code) else { return nil }
    self.location = location
    code = error.code
    wasVault = location.path.map { Self.wasVault(ExaminedPath($0)) } ?? (error.code != .notAVault)
    isReplaceable = Self.replaceable.contains(code) && location.identifier != nil
    canBeSalvaged = location.canBeSalvaged
  }

  private static func wasVault(_ file: ExaminedPath) -> Bool {
    guard let status = file.status(), status.st_mode & S_IFMT == S_IFREG else { return false }
    guard status.st_mode & 0o077 != 0, let start = file.start(4096), !start.isEmpty else { return true }
    return !start.allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) }
  }

  /// - Parameter salvages: Whether to name `salvage`, which the command itself is not.
  func hint(salvages: Bool = true) -> String {
    guard wasVault else { return location.otherVault }
    let restore =
      location.path == nil && !isReplaceable
      ? Hints.restoreElsewhere : Hints.restore(location.option, movingAway: isReplaceable ? nil : location.movingAway)
    let salvage = salvages && canBeSalvaged ? Hints.salvage(location.option) + "; " : ""
    return switch code {
    case .notAVault: "\(Hints.otherVault); \(Hints.wasVault)\(salvage)\(restore)"
    case .unsupportedVersion, .unsupportedFeature: "\(Hints.laterVersion); \(Hints.isDamaged)\(salvage)\(restore)"
    default: isReplaceable && !salvage.isEmpty ? "\(restore); \(Hints.salvage(location.option))" : salvage + restore
    }
  }
}
