internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// The failure of a command. Messages consist of fixed text and the vault's messages, which contain no value,
/// passphrase, key or record name. An argument that may be a secret in the wrong place is never included. Keys are
/// named where they were found in the vault, in a file or a template, or as one of several keys that a command was
/// given.
struct ToolError: Error {
  static let usageCode = "usage"
  static let declinedCode = "declined"
  static let problemsCode = "problems"
  static let incompleteCode = "incomplete"
  static let answerLostCode = "answerLost"
  static let cannotExecuteCode = "cannotExecute"
  static let commandNotFoundCode = "commandNotFound"
  static let internalCode = "internal"

  /// An error code of `Docs/Format.md` section 11, or one of the tool's own codes above.
  let code: String
  let message: String
  let hint: String?
  let status: ExitStatus
  /// The parts of a plain file that the error is about, if they are several.
  private(set) var parts: [PlainRecords.Part] = []

  private init(_ code: String, _ status: ExitStatus, _ message: String, _ hint: String?) {
    self.code = code
    self.status = status
    self.message = message
    self.hint = hint
  }

  /// Converts a vault's error and adds a hint.
  init(_ error: VaultError, message: String? = nil, hint: String? = nil) {
    let usual =
      switch error.cause {
      case is KeptKey.Rejection: KeptKey.Rejection.hint
      case let cure as Cure: cure.hint
      case is IdentityRejection: IdentityRejection.hint
      case is AuditRefusal where error.code != .durabilityUnknown: Hints.text(ofLog: error)
      case _ where DatabaseHints.isAbout(error): DatabaseHints.text(error)
      // The hint of invalidName is for names in a vault, and not for a variable that is not UTF-8.
      default: error.errno == EILSEQ ? nil : Hints.text(error)
      }
    self.init(error.code.rawValue, ExitStatus(error.code), message ?? error.message, hint ?? usual)
  }

  /// Converts any error that a command throws.
  init(thrown error: any Error) {
    switch error {
    case let error as ToolError: self = error
    // The vault passes on what ended a write of this tool.
    case let error as VaultError: self = error.cause as? ToolError ?? ToolError(error)
    case let error as PreferencesError: self.init(error)
    case let error as PlainFault: self.init(error.error)
    default: self.init(Self.internalCode, .internalFault, "an unexpected error occurred", nil)
    }
  }

  /// Converts the error of a plain file. The vault's hints do not apply to it.
  private init(_ error: PreferencesError) {
    let code: VaultError.Code? =
      switch error.code {
      case .notFound: .notFound
      case .invalidKey: .invalidName
      case .malformed: .malformed
      case .limitExceeded: .limitExceeded
      case .exposed: .insecurePermissions
      case .durabilityUnknown: .durabilityUnknown
      default: error.code.failureClass.code
      }
    self.init(
      code?.rawValue ?? Self.internalCode, code.map(ExitStatus.init) ?? .internalFault, error.message,
      code == .durabilityUnknown ? nil : Hints.text(errno: (error.cause as? SystemFailure)?.errno))
  }

  /// Returns the same error with a key in front of the message, unless it already names the key.
  func about(key: String) -> ToolError { message.contains("\"\(key)\"") ? self : about("\"\(key)\"") }

  /// Returns the same error with the words that nothing was changed behind the message.
  var withoutChange: ToolError {
    var error = ToolError(code, status, "\(message); nothing was changed", hint)
    error.parts = parts
    return error
  }

  /// Returns the same error with `place` in front of the message.
  func about(_ place: String) -> ToolError {
    var error = ToolError(code, status, "\(place): \(message)", hint)
    error.parts = parts
    return error
  }

  /// One error for several, with the code and hint of the first; `nil` for none.
  static func all(of errors: [ToolError]) -> ToolError? {
    guard let first = errors.first, errors.count > 1 else { return errors.first }
    return ToolError(first.code, first.status, listed(errors.map(\.message)), first.hint)
  }

  /// Returns the same error with a different hint.
  func with(hint: String) -> ToolError {
    var error = ToolError(code, status, message, hint)
    error.parts = parts
    return error
  }

  /// Nothing was imported from a plain file because of its bad parts, which are one or more.
  ///
  /// - Parameter others: The bad parts that `--skip` has left out already.
  static func bad(_ faults: [PlainFault], besides others: [PlainFault]) -> ToolError {
    let all = (faults + others).sorted { $0.line < $1.line }
    let code: VaultError.Code = faults.allSatisfy(\.isLimit) ? .limitExceeded : .malformed
    var error = ToolError(
      code.rawValue, .badFile,
      faults.count == 1
        ? faults[0].part.text
        : "\(counted(faults.count, "part is", "parts are")) bad; nothing was imported",
      "\(SkippedParts.option(all)) leaves \(all.count == 1 ? "it" : "them") out")
    if faults.count > 1 { error.parts = faults.map(\.part) }
    return error
  }

  /// Nothing was done because of the bad lines of configuration files, which are one or more.
  static func badConfiguration(_ problems: [PlainRecords.Part]) -> ToolError {
    var error = ToolError(
      VaultError(
        .malformed,
        problems.count == 1 ? problems[0].text : "\(problems.count) lines of the configuration are bad"),
      hint: Hints.configuration)
    let rest = problems.count - ConfigurationFile.mostProblems
    if problems.count > 1 {
      error.parts = Array(problems.prefix(ConfigurationFile.mostProblems))
      if rest > 0 { error.parts.append(PlainRecords.Part(line: 0, name: "", reason: "and \(rest) more")) }
    }
    return error
  }

  /// A plain file has no value that is imported.
  static func nothingToImport(_ format: PlainFormat, leaving parts: [PlainRecords.Part]) -> ToolError {
    let reason = parts.count == 1 ? ": \(parts[0].text)" : ""
    var error = ToolError(
      VaultError.Code.notFound.rawValue, .no, "there is nothing to import in this \(format.rawValue) file\(reason)", nil
    )
    if parts.count > 1 { error.parts = parts }
    return error
  }

  static func usage(_ message: String, hint: String? = nil) -> ToolError {
    ToolError(usageCode, .usage, message, hint)
  }

  /// The process could not be hardened.
  static func `internal`(_ step: String, _ number: Int32) -> ToolError {
    ToolError(internalCode, .internalFault, "\(step): \(systemText(number))", nil)
  }

  static func io(_ step: @autoclosure () -> String, _ number: Int32) -> ToolError {
    let error = VaultError.io(step(), number)
    return ToolError(error.code.rawValue, ExitStatus(error.code), error.message, nil)
  }

  /// Standard output could not be written. The code shows whether the vault was changed before that.
  static func lostAnswer(_ error: ToolError, isChanged: Bool) -> ToolError {
    guard isChanged else { return ToolError(error.code, error.status, "\(error.message); nothing was changed", nil) }
    return ToolError(
      answerLostCode, .answerLost, "the change is made, but the output is lost: \(error.message)",
      "do not repeat the command; check the current state instead")
  }

  /// The program of `run` or `rotate-value` could not be started.
  static func notStarted(_ number: Int32) -> ToolError {
    switch number {
    case ENOENT:
      ToolError(
        commandNotFoundCode, .commandNotFound, "the command, or the interpreter that it names, does not exist",
        "check the command's name and PATH")
    case E2BIG:
      ToolError(
        VaultError(.valueTooLarge, "the command's arguments and environment are too long for the system"),
        hint: "--file NAME=key of \"secretprefs run\" passes a long value as a file")
    default:
      ToolError(
        cannotExecuteCode, .cannotExecute, "the command cannot be executed: \(systemText(number))", nil)
    }
  }

  /// A confirmation was answered with anything except "yes".
  static let declined = ToolError(declinedCode, .no, "not confirmed; nothing was changed", nil)
  /// A question whose answer can lose what the user has typed.
  static let unanswered = ToolError(problemsCode, .no, "neither yes nor no was answered; nothing was changed", nil)

  /// The editor of `edit --value` failed, or could not be started.
  static func editorFailed(_ message: String) -> ToolError {
    ToolError(declinedCode, .no, "\(message); nothing was changed", "$VISUAL or $EDITOR names the editor")
  }

  /// `doctor` found errors or warnings.
  static func problems(_ count: Int) -> ToolError {
    ToolError(problemsCode, .no, counted(count, "problem", "problems") + " found", nil)
  }

  /// `check` found problems.
  ///
  /// - Parameter malformed: The first of them that is about a line that is malformed.
  static func problems(_ count: Int, malformed: ToolError?) -> ToolError {
    guard let malformed else { return problems(count) }
    return ToolError(
      VaultError(.malformed, counted(count, "problem", "problems") + " found, and a line is malformed"),
      hint: malformed.hint == EnvFile.form
        ? "\(EnvFile.form); --template reads the files as templates" : malformed.hint)
  }

  /// A problem of the vault that has its own text.
  static func problem(_ message: String, hint: String?) -> ToolError { ToolError(problemsCode, .no, message, hint) }

  /// `git-merge` could not merge everything.
  static func conflicts(_ count: Int) -> ToolError {
    ToolError(
      problemsCode, .no, counted(count, "key is a conflict", "keys are conflicts"),
      "each is as in <ours>; set the value that it shall have, and add the file with git")
  }

  /// `scan` found values.
  static func found(_ count: Int) -> ToolError {
    ToolError(
      problemsCode, .no, "values of the vault were found in \(counted(count, "place", "places"))",
      "if others can read these places, replace the values")
  }

  /// `scan` found nothing, but not everything could be searched.
  static func notSearched(_ count: Int) -> ToolError {
    ToolError(
      incompleteCode, .no, "\(counted(count, "file or directory", "files or directories")) could not be searched", nil)
  }

  static let nothingToSearch = ToolError(
    VaultError(.notFound, "the vault has no value that can be searched for"),
    hint: "--service and --group limit the values; omit them to search for all")

  /// `verify` found that only the end of the journal is broken.
  static let tornTail = ToolError(
    problemsCode, .no, "the journal ends with a broken entry", Vault.TornTail.repair)

  /// `verify` has read a file that no longer changes.
  static let frozen = ToolError(problemsCode, .no, FrozenVault.words, Hints.mountDirectory)

  /// `backup` has copied a file that no longer changes.
  static let frozenCopy = ToolError(
    problemsCode, .no, "the new copy was made, with an old state: \(FrozenVault.words)", Hints.mountDirectory)

  /// `salvage` lost data, or cannot exclude it.
  static func incomplete(_ message: String) -> ToolError {
    ToolError(incompleteCode, .no, message, "keep the damaged file: a backup may contain the missing data")
  }

  static let noSuchSlot = ToolError(
    VaultError(.notFound, "there is no slot with this id"), hint: "\"secretprefs slots list\" lists the ids")

  static let noSuchKey = ToolError(VaultError(.notFound, "there is no such key"), hint: Hints.keys)

  /// A key that does not exist, and has the form of another program's reference.
  static func foreignReference(_ program: String) -> ToolError {
    ToolError(VaultError(.notFound, "there is no such key; this is \(program)"), hint: Hints.import)
  }

  /// - Parameters:
  ///   - key: A key that the vault has.
  ///   - options: The options of its service and group, after a blank, or an empty text.
  ///   - groups: The other access groups that have a key of this name in the same service.
  static func removedKey(_ key: String, _ options: String, nowIn groups: [String]) -> ToolError {
    let restores = "\"secretprefs history restore\(options) \(shellKey(key))\" restores"
    guard let group = groups.first else {
      return ToolError(
        VaultError(.notFound, "the key \"\(key)\" was removed"), hint: "\(restores) it")
    }
    let others = "\(counted(groups.count, "access group has", "access groups have")) one of this name"
    return ToolError(
      VaultError(.notFound, "the key \"\(key)\" was removed or moved: \(others): \(listed(groups.map(displayed)))"),
      hint: "--group \(shellWord(group)), or \(SecretReference.query(group)) in a reference, names "
        + "\(groups.count > 1 ? "one of them" : "the other one"); \(restores) this one")
  }

  /// A record that another process changes while it is exported.
  static let changedRecord = ToolError(VaultError(.conflict, "a record was changed during the export"))

  var isChangedRecord: Bool { code == Self.changedRecord.code && message == Self.changedRecord.message }

  static func noMatchingKey(_ hint: String) -> ToolError {
    ToolError(VaultError(.notFound, "no key matches the patterns"), hint: hint)
  }

  static let emptyService = ToolError(VaultError(.notFound, "the service has no keys"), hint: Hints.keys)

  /// - Parameters:
  ///   - key: A key that the vault has.
  ///   - services: The services that have it.
  static func noSuchKey(_ key: String, of services: [String]) -> ToolError {
    ToolError(
      VaultError(.notFound, "there is no key \"\(key)\" in this service"),
      hint: "select a service that has this key with --service: \(listed(services.map(shellWord)))")
  }

  static let noSuchRevision = ToolError(
    VaultError(.notFound, "the key has no value with this revision"), hint: Hints.revisions)

  static func noSettingsFile(_ path: String) -> ToolError {
    ToolError(
      VaultError(.notFound, "\(path): there is no such file, and no descriptions of its settings"),
      hint: "--descriptions names a file that describes the settings; the first change then creates the settings file")
  }

  /// - Parameters:
  ///   - consequence: What follows for the other keys.
  ///   - listing: What lists the keys that there are.
  static func missing(_ keys: some Collection<String>, _ consequence: StaticString, listing: String) -> ToolError {
    ToolError(
      VaultError(
        .notFound,
        "\(counted(keys.count, "key does", "keys do")) not exist: \(listed(keys.sorted().map { "\"\($0)\"" })); "
          + "\(consequence)"), hint: listing)
  }
}

extension FailureClass {
  /// The code of a plain file's failure that has no code of its own here.
  fileprivate var code: VaultError.Code? {
    switch exitCode {
    case ExitStatus.inputOutput.rawValue: .io
    case ExitStatus.no.rawValue: .typeMismatch
    default: nil
    }
  }
}
