internal import VaultCore
internal import VaultSealing

/// The exit codes. `VaultError.Code.failureClass` maps the error codes of `Docs/Format.md` section 11 to them.
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
  case cannotExecute = 126
  case commandNotFound = 127

  /// An error code that is newer than this tool is an internal error.
  init(_ code: VaultError.Code) { self = Self(rawValue: code.failureClass.exitCode) ?? .internalFault }

  /// The text of the table of exit codes.
  var meaning: String {
    switch self {
    case .success: "Success. Changes survive a power failure."
    case .no: "Not found, exists, changed, expired, wrong type, declined, or problems."
    case .usage: "Invalid arguments, name, passphrase or key text, or value too long."
    case .badFile: "The file is not a vault, is damaged, or has a later version."
    case .internalFault: "Internal error in this program."
    case .noMemory: "Not enough memory to derive the key from the passphrase."
    case .answerLost: "The change is durable, but standard output could not be written."
    case .inputOutput: "Reading or writing failed, or a file has an unsafe owner or mode."
    case .busy: "Another process kept the vault locked for too long."
    case .tampered: "Changed without the key, older than its mark, or the mark is missing."
    case .noAccess: "The credential or device key does not open it, or an owner is required."
    case .noCredential: "No passphrase or key is configured, and there is no terminal to prompt on."
    case .cannotExecute: "The command of \"run\" or \"rotate-value\" cannot be executed."
    case .commandNotFound: "The command of \"run\" or \"rotate-value\" does not exist."
    }
  }

  /// The error codes of `Docs/Format.md` section 11 that have this exit code, and the tool's own.
  var codes: [String] {
    let codes = VaultError.Code.all.filter { ExitStatus($0) == self }.map(\.rawValue)
    return switch self {
    case .no: codes + [ToolError.declinedCode, ToolError.problemsCode, ToolError.incompleteCode]
    case .usage: [ToolError.usageCode] + codes
    case .answerLost: [ToolError.answerLostCode]
    case .cannotExecute: [ToolError.cannotExecuteCode]
    case .commandNotFound: [ToolError.commandNotFoundCode]
    default: codes
    }
  }

  /// The table as text, one exit code per line.
  static var table: String {
    allCases.map { status in
      let number = String(status.rawValue)
      return String(repeating: " ", count: 3 - number.count) + number + "  " + status.meaning
    }.joined(separator: "\n") + "\n128 + N: terminated by signal N."
  }
}
