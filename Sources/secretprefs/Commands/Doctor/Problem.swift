/// Something that is wrong, and the one thing to do about it.
struct Problem {
  enum Severity: String {
    /// The vault, or a part of it, cannot be used or trusted.
    case error
    /// It works, and should not stay so.
    case warning
    /// It is all right; it could be better.
    case advice
  }

  /// Stays the same, for programs.
  let name: String
  let severity: Severity
  let message: String
  let repair: String

  init(_ severity: Severity, _ name: String, _ message: String, repair: String) {
    (self.severity, self.name, self.message, self.repair) = (severity, name, message, repair)
  }
}
