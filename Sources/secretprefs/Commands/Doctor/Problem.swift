/// A problem and its repair.
struct Problem {
  enum Severity: String, CaseIterable {
    /// The vault or a part of it cannot be used or trusted.
    case error
    /// The vault works, but should be repaired.
    case warning
    /// The vault is correct, but could be improved.
    case advice
  }

  /// A stable identifier for programs.
  let name: String
  let severity: Severity
  let message: String
  let repair: String

  init(_ severity: Severity, _ name: String, _ message: String, repair: String) {
    self.severity = severity
    self.name = name
    self.message = message
    self.repair = repair
  }
}
