internal import VaultCore

/// How the tool ends. The one place where the error classes of `Docs/Format.md` section 11 become exit codes.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  case no = 1
  case usage = 64
  case badFile = 65
  case internalFault = 70
  case noMemory = 71
  case answerLost = 73
  case inputOutput = 74
  case busy = 75
  case tampered = 76
  case noAccess = 77
  case noCredential = 78

  init(_ code: VaultError.Code) {
    self =
      switch code {
      case .notFound, .alreadyExists, .conflict, .expired, .typeMismatch: .no
      case .invalidName, .invalidKeyText, .invalidPassphrase, .unsupportedAccessibility, .valueTooLarge, .lastOwnerSlot:
        .usage
      case .notAVault, .unsupportedVersion, .unsupportedFeature, .malformed, .limitExceeded, .kdfRefused, .damaged:
        .badFile
      case .tampered, .rolledBack, .markMissing: .tampered
      case .credentialRejected, .staleCredential, .groupNotGranted, .ownerRequired, .deviceKeyMissing,
        .wrongDevice, .locked:
        .noAccess
      case .noCredential: .noCredential
      case .kdfMemory: .noMemory
      case .io, .readOnly, .hardLinked, .replaced, .insecurePermissions, .durabilityUnknown: .inputOutput
      case .lockTimeout: .busy
      default: .internalFault  // a class that is younger than this tool
      }
  }

  /// What it means, for the table.
  var meaning: String {
    switch self {
    case .success: "Done. What was written survives a power cut."
    case .no: "Not there; there already; another kind; not confirmed; or problems found."
    case .usage: "Wrong arguments, name, passphrase or key text, or too long a value."
    case .badFile: "The file is no vault, is damaged, or of a later version."
    case .internalFault: "A fault of this program."
    case .noMemory: "No memory for the passphrase's key derivation."
    case .answerLost: "Done and durable, but standard output could not be written."
    case .inputOutput: "Reading or writing failed, or owner and mode of a file are not safe."
    case .busy: "Another program kept the vault locked for too long."
    case .tampered: "Changed without the key, or older than its mark; or the mark is missing."
    case .noAccess: "The passphrase or key does not open the vault or the access group."
    case .noCredential: "No passphrase or key is configured, and no terminal to ask on."
    }
  }

  /// The classes of `Docs/Format.md` section 11 that end so, and the tool's own.
  var codes: [String] {
    let codes = VaultError.Code.all.filter { ExitStatus($0) == self }.map(\.rawValue)
    return switch self {
    case .no: codes + [ToolError.declinedCode, ToolError.problemsCode, ToolError.incompleteCode]
    case .usage: [ToolError.usageCode] + codes
    case .answerLost: [ToolError.answerLostCode]
    default: codes
    }
  }

  /// The table as text, one code a line.
  static var table: String {
    allCases.map { status in
      let number = String(status.rawValue)
      return String(repeating: " ", count: 3 - number.count) + number + "  " + status.meaning
    }.joined(separator: "\n") + "\n128 + N: ended by signal N."
  }
}
