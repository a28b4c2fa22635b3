internal import DurableFiles

/// Writes errors, warnings and notes to standard error. They never contain secrets.
struct Messages {
  /// Whether each message is one line with a JSON object.
  let isJSON: Bool
  /// What hints and warnings add to the commands that they name. Nothing before the arguments are understood.
  var given = GivenOptions()

  /// Writes an error and returns its exit code.
  func report(_ error: ToolError) -> ExitStatus {
    // The process ends by that signal; an error message would only repeat it.
    guard !PendingSignal.isPending else { return error.status }
    let message = withoutPasswords(error.message)
    let hint = error.hint.map { withoutPasswords(given.named($0)) }
    if isJSON {
      var members: [(String, JSON)] = [("code", .string(error.code)), ("message", .string(message))]
      if let hint { members.append(("hint", .string(hint))) }
      members.append(("exit", .unsigned(UInt64(error.status.rawValue))))
      if !error.parts.isEmpty { members.append(("parts", .array(error.parts.map(\.json)))) }
      write(JSON.object([("error", .object(members))]).text + "\n")
    } else {
      // The message may contain a path.
      write(
        "secretprefs: error: \(displayed(message))\n" + error.parts.map { "  \(displayed($0.text))\n" }.joined()
          + (hint.map { "secretprefs: hint: \(displayed($0))\n" } ?? ""))
    }
    return error.status
  }

  func warn(_ message: String) {
    let message = withoutPasswords(given.named(message))
    if isJSON {
      write(JSON.object([("warning", .object([("message", .string(message))]))]).text + "\n")
    } else {
      write("secretprefs: warning: \(message)\n")
    }
  }

  /// Writes information about what was stored, also for the log of a script: a value that is not as it was given, a
  /// new key that is special, an id. Silent with JSON.
  func tell(_ message: String) {
    guard !isJSON else { return }
    write("secretprefs: note: \(message)\n")
  }

  /// Writes information that is useful to a person only. Silent unless standard error is a terminal.
  func note(_ message: String) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    tell(message)
  }

  /// Writes in one call, so that messages of several processes do not mix. A failure cannot be reported anywhere.
  func write(_ text: String) {
    var text = text
    _ = text.withUTF8 { DurableFiles.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
