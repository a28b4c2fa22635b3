/// The findings of `doctor`.
struct DoctorReport {
  var problems: [Problem] = []
  /// The parts that could not be checked, with the reasons.
  var unseen: [(part: String, reason: String)] = []

  /// Adds the given options to the commands of the repairs.
  mutating func complete(_ completed: (String) -> String) {
    problems = problems.map { problem in
      Problem(problem.severity, problem.name, problem.message, repair: completed(problem.repair))
    }
    unseen = unseen.map { ($0.part, completed($0.reason)) }
  }

  /// The number of problems that are at least as severe.
  func count(from severity: Problem.Severity) -> Int {
    let counted = Problem.Severity.allCases.prefix { $0 != severity } + [severity]
    return problems.count { counted.contains($0.severity) }
  }

  var text: String {
    var lines = problems.map { problem in
      let label = problem.severity.rawValue
      return label + String(repeating: " ", count: 9 - label.count) + problem.message + "\n"
        + "         repair: \(problem.repair)\n"
    }
    if problems.isEmpty { lines.append("no problems found\n") }
    return (lines + unseen.map { "not checked: \($0.part) (\($0.reason))\n" }).joined()
  }

  var json: JSON {
    .object([
      (
        "problems",
        .array(
          problems.map { problem in
            .object([
              ("problem", .string(problem.name)), ("severity", .string(problem.severity.rawValue)),
              ("message", .string(problem.message)), ("repair", .string(problem.repair)),
            ])
          })
      ),
      (
        "notSeen",
        .array(unseen.map { .object([("part", .string($0.part)), ("reason", .string($0.reason))]) })
      ),
    ])
  }
}
