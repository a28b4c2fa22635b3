internal import DurableFiles
internal import Secrets
internal import VaultCore

/// Names one of the two files of a command in prompts and errors.
enum VaultRole: String {
  case vault = "the vault"
  case bundle = "the bundle"
  case backup = "the backup"

  private static let otherBackup = "restore a different backup"
  private static let makeBundle = "\"secretprefs help bundle export\" says how another vault makes a bundle"

  private var options: String {
    switch self {
    case .vault, .backup: "--key-file, --identity or --passphrase-fd"
    case .bundle: "--bundle-key-file or --bundle-passphrase-fd"
    }
  }

  /// Adds the name of the file, and the options for its credential.
  func explained(_ error: VaultError, at location: VaultLocation) -> ToolError {
    ToolError(error, message: "\(rawValue) \(error.message(about: location.name))", hint: hint(error, location))
  }

  private func hint(_ error: VaultError, _ location: VaultLocation) -> String? {
    switch error.code {
    case .credentialRejected where self == .backup:
      return "\(options) gives the credential of the backup, and --trust the pin that the vault had then"
    // The usual hints are about the pin.
    case .credentialRejected where error.cause is IdentityRejection: return nil
    case .noCredential where error.cause is IdentityFile.WithoutPin: return nil
    case .credentialRejected: return "\(options) gives the credential of \(rawValue)"
    case .noCredential: return "\(options) gives the credential of \(rawValue); a prompt needs a terminal"
    case .notFound where self == .bundle: return Self.makeBundle
    case .notFound where self == .backup: return "\"secretprefs backup <file>\" creates a backup"
    default: break
    }
    guard self != .vault, let unreadable = UnreadableVault(location, error) else { return nil }
    guard self == .backup else {
      return error.code == .notAVault ? "\(Self.makeBundle); \"secretprefs import\" reads plain files" : Self.makeBundle
    }
    return unreadable.canBeSalvaged ? "\(Self.otherBackup); \(Hints.salvage(location.option))" : Self.otherBackup
  }
}

extension VaultError {
  /// Whether the file system has no space. The system has the same error for too many watches.
  var isFullDisk: Bool {
    guard [ENOSPC, EDQUOT].contains(errno) else { return false }
    return switch subject {
    case .operation(.watch, _), .operation(.watchDirectory, _): false
    default: true
    }
  }

  /// Whether a file could not be replaced because it is mounted by itself.
  var isAboutMount: Bool {
    guard errno == EBUSY, case .operation(.rename, _) = subject else { return false }
    return true
  }

  /// The directory that does not exist, where a file was to be created in it.
  var missingDirectory: String? {
    guard errno == ENOENT, case .operation(.create, let path) = subject else { return nil }
    return PathName.directory(of: path)
  }

  /// The message, with the path in front unless it already contains it.
  func message(about path: String) -> String {
    // Messages of VaultCore begin with the absolute path, if they have one.
    message.hasPrefix("/") || message.contains("\(path): ") ? message : "\(path): \(message)"
  }
}
