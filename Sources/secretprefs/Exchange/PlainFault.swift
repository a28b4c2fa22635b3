internal import Preferences

/// A part of a plain file that cannot be imported. Has no text of the file but, where it is known, the name of an
/// entry.
///
/// A parser throws it where it cannot go on. Where it can, it adds it to ``PlainRecords``, so that all bad parts are
/// reported at once.
struct PlainFault: Error {
  /// The line, from 1; 0 if the source has no lines.
  let line: Int
  var name = ""
  let reason: String
  /// The last of its lines, such as the one in which an open quote ends. `nil` if it has one line.
  var lastLine: Int?
  /// Whether the file exceeds a limit, and is not malformed.
  var isLimit = false
  /// Whether parsing ends here: more parts than fit in memory.
  var isFatal = false

  var part: PlainRecords.Part { PlainRecords.Part(line: line, lastLine: lastLine, name: name, reason: reason) }

  var lines: ClosedRange<Int> { line...(lastLine ?? line) }

  /// The item of a list of `--skip` that stands for it. `nil` if a list cannot have it.
  var item: String? {
    guard line == 0 else { return lastLine.map { "\(line)-\($0)" } ?? "\(line)" }
    return SkippedParts.isItem(name) ? name : nil
  }

  /// The fault as one of the lines from its own to `last`, which are lost with it.
  func through(_ last: Int, from first: Int? = nil) -> PlainFault {
    let first = first ?? line
    return PlainFault(
      line: first, name: name, reason: reason, lastLine: last > first ? last : nil, isLimit: isLimit, isFatal: isFatal)
  }

  /// The file exceeds a limit, which is checked before anything is built from what exceeds it.
  static func limit(_ what: String, line: Int) -> PlainFault { PlainFault(line: line, reason: what, isLimit: true) }

  /// The file has more parts than an import may have.
  static func tooMuch(_ what: String, line: Int) -> PlainFault {
    PlainFault(line: line, reason: what, isLimit: true, isFatal: true)
  }

  /// The fault as the error of a whole file.
  var error: PreferencesError { PreferencesError(isLimit ? .limitExceeded : .malformed, part.text) }
}
