internal import VaultCore

/// Names one of the two files of a command in prompts and errors.
enum VaultRole: String {
  case vault = "the vault"
  case bundle = "the bundle"

  /// Adds the name of the file, and the options for its credential.
  func explained(_ error: VaultError, path: String) -> ToolError {
    let options =
      switch self {
      case .vault: "--key-file or --passphrase-fd"
      case .bundle: "--bundle-key-file or --bundle-passphrase-fd"
      }
    let hint: String? =
      switch error.code {
      case .credentialRejected: "\(options) gives the credential of \(rawValue)"
      case .noCredential: "\(options) gives the credential of \(rawValue); a prompt needs a terminal"
      case .notFound where self == .bundle: "\"secretprefs bundle export\" creates a bundle"
      default: nil
      }
    return ToolError(error, message: "\(rawValue) \(error.message(about: path))", hint: hint)
  }
}

extension VaultError {
  /// The message, with the path in front unless it already contains it.
  func message(about path: String) -> String {
    // VaultCore's messages contain the absolute path.
    message.contains("\(path): ") ? message : "\(path): \(message)"
  }
}
