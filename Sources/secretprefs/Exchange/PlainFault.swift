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
  /// Whether the file exceeds a limit, and is not malformed.
  var isLimit = false
  /// Whether parsing ends here: more parts than fit in memory.
  var isFatal = false

  var part: PlainRecords.Part { PlainRecords.Part(line: line, name: name, reason: reason) }

  /// The file exceeds a limit, which is checked before anything is built from what exceeds it.
  static func limit(_ what: String, line: Int) -> PlainFault { PlainFault(line: line, reason: what, isLimit: true) }

  /// The file has more parts than an import may have.
  static func tooMuch(_ what: String, line: Int) -> PlainFault {
    PlainFault(line: line, reason: what, isLimit: true, isFatal: true)
  }

  /// The fault as the error of a whole file.
  var error: PreferencesError { PreferencesError(isLimit ? .limitExceeded : .malformed, part.text) }
}
