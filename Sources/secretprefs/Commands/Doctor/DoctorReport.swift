/// What `doctor` found.
struct DoctorReport {
  var problems: [Problem] = []
  /// Parts that could not be looked at, and why.
  var unseen: [(part: String, reason: String)] = []

  /// How many things are wrong: advice does not count.
  var wrongCount: Int { problems.count { $0.severity != .advice } }

  var text: String {
    var lines = problems.map { problem in
      let label = problem.severity.rawValue
      return label + String(repeating: " ", count: 9 - label.count) + problem.message + "\n"
        + "         repair: \(problem.repair)\n"
    }
    if problems.isEmpty { lines.append("nothing is wrong\n") }
    return (lines + unseen.map { "not seen \($0.part): \($0.reason)\n" }).joined()
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
