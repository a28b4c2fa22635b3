internal import Glibc

/// Standard error: what went wrong and what to do. Never data, never a secret.
struct Messages {
  /// Whether each message is a JSON object on a line of its own.
  let isJSON: Bool

  /// Reports a failure.
  func report(_ error: ToolError) -> ExitStatus {
    // A signal ends the program by itself; there is nothing to add.
    guard !PendingSignal.isPending else { return error.status }
    if isJSON {
      var members: [(String, JSON)] = [("code", .string(error.code)), ("message", .string(error.message))]
      if let hint = error.hint { members.append(("hint", .string(hint))) }
      members.append(("exit", .unsigned(UInt64(error.status.rawValue))))
      write(JSON.object([("error", .object(members))]).text + "\n")
    } else {
      // It may hold a path.
      write(
        "secretprefs: error: \(displayed(error.message))\n" + (error.hint.map { "secretprefs: hint: \($0)\n" } ?? ""))
    }
    return error.status
  }

  func warn(_ message: String) {
    if isJSON {
      write(JSON.object([("warning", .object([("message", .string(message))]))]).text + "\n")
    } else {
      write("secretprefs: warning: \(message)\n")
    }
  }

  /// Tells a person something that a program has no use for.
  func note(_ message: String) {
    guard !isJSON, isatty(STDERR_FILENO) == 1 else { return }
    write("secretprefs: note: \(message)\n")
  }

  /// One call, so that messages of several programs do not mix. A failure has nowhere to be reported.
  func write(_ text: String) {
    var text = text
    _ = text.withUTF8 { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
