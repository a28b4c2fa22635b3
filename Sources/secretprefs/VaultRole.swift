internal import VaultCore

/// Which of the two files of a command a vault is, in questions and errors.
enum VaultRole: String {
  case vault = "the vault"
  case bundle = "the bundle"

  /// Says which file failed, and which options are for its credential.
  func explained(_ error: VaultError, path: String) -> ToolError {
    let options =
      switch self {
      case .vault: "--key-file or --passphrase-fd"
      case .bundle: "--bundle-key-file or --bundle-passphrase-fd"
      }
    let hint: String? =
      switch error.code {
      case .credentialRejected: "\(options) is for \(rawValue)"
      case .noCredential: "\(options) is for \(rawValue); to be asked takes a terminal"
      case .notFound where self == .bundle: "\"secretprefs bundle export\" makes a bundle"
      default: nil
      }
    return ToolError(error, message: "\(rawValue) \(error.message(about: path))", hint: hint)
  }
}

extension VaultError {
  /// What happened, and to which file.
  func message(about path: String) -> String {
    // The vault calls a file by its absolute path.
    message.contains("\(path): ") ? message : "\(path): \(message)"
  }
}
