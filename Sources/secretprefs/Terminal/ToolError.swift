internal import Glibc
internal import VaultCore
internal import VaultSealing

/// How a command failed: made from fixed text and the messages of the vault, which name no value, passphrase, key
/// or record, and never from an argument.
struct ToolError: Error {
  static let usageCode = "usage"
  static let declinedCode = "declined"
  static let problemsCode = "problems"
  static let incompleteCode = "incomplete"
  static let answerLostCode = "answerLost"
  static let internalCode = "internal"

  /// The error class of `Docs/Format.md` section 11, or one of the tool's own above.
  let code: String
  let message: String
  let hint: String?
  let status: ExitStatus

  private init(_ code: String, _ status: ExitStatus, _ message: String, _ hint: String?) {
    (self.code, self.status, self.message, self.hint) = (code, status, message, hint)
  }

  /// Carries a vault's error over, with what to do about it.
  init(_ error: VaultError, message: String? = nil, hint: String? = nil) {
    self.init(error.code.rawValue, ExitStatus(error.code), message ?? error.message, hint ?? Hints.text(error.code))
  }

  /// Whatever a command threw.
  init(thrown error: any Error) {
    switch error {
    case let error as ToolError: self = error
    case let error as VaultError: self.init(error)
    default: self.init(Self.internalCode, .internalFault, "something went wrong that should not be possible", nil)
    }
  }

  static func usage(_ message: String, hint: String? = nil) -> ToolError {
    ToolError(usageCode, .usage, message, hint)
  }

  /// The process could not be made fit to hold secrets.
  static func `internal`(_ step: String, _ number: Int32) -> ToolError {
    ToolError(internalCode, .internalFault, "\(step): \(String(cString: strerror(number)))", nil)
  }

  static func io(_ step: @autoclosure () -> String, _ number: Int32) -> ToolError {
    ToolError(VaultError(.io, "\(step()): \(String(cString: strerror(number)))", errno: number))
  }

  /// Standard output could not be written, which says nothing of what was done before.
  static func lostAnswer(_ error: ToolError, isChanged: Bool) -> ToolError {
    guard isChanged else { return ToolError(error.code, error.status, "\(error.message); nothing was changed", nil) }
    return ToolError(
      answerLostCode, .answerLost, "the change is made, but its answer is lost: \(error.message)",
      "do not repeat the command; look at what there is now")
  }

  /// A question that was not answered with "yes".
  static let declined = ToolError(declinedCode, .no, "not confirmed; nothing was changed", nil)

  /// What `doctor` ends with when something is wrong.
  static func problems(_ count: Int) -> ToolError {
    ToolError(problemsCode, .no, count == 1 ? "something is wrong" : "\(count) things are wrong", nil)
  }

  /// What `verify` ends with when all holds but the last journal entry.
  static let tornTail = ToolError(
    problemsCode, .no, "the last journal entry does not hold",
    "copy the file, and look whether the newest changes are there; a mark or a backup tells more")

  /// What `salvage` ends with when something is lost, or may be.
  ///
  /// - Parameter isCurrent: whether what was saved is known to be what was there last.
  static func incomplete(isCurrent: Bool) -> ToolError {
    ToolError(
      incompleteCode, .no,
      isCurrent
        ? "not everything could be saved"
        : "without the manifest, what was saved may be older than what was there last",
      "keep the damaged file: a backup may complete what was saved")
  }

  static let noSuchSlot = ToolError(
    VaultError(.notFound, "there is no slot of that id"), hint: "\"secretprefs slots list\" shows the ids")

  static let noSuchKey = ToolError(
    VaultError(.notFound, "there is no such key"),
    hint: "\"secretprefs list\" shows the keys of a service; --service and --group choose others")

  static let keyOfAnotherService = ToolError(
    VaultError(.notFound, "there is no such key in this service"),
    hint: "another service has it: \"secretprefs list --all-services\" shows which, --service names it")

  static let noSuchRevision = ToolError(
    VaultError(.notFound, "the key keeps no value of that revision"), hint: Hints.revisions)

  static func someMissing(removed: Int, of count: Int) -> ToolError {
    ToolError(
      VaultError(.notFound, "\(count - removed) of the \(count) keys were not there; the others are removed"),
      hint: noSuchKey.hint)
  }
}
