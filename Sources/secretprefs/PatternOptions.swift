internal import ArgumentParser

/// The patterns of the keys that a command takes.
struct PatternOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Choose the keys that match this pattern, as \"list\" has it. Repeatable.", valueName: "pattern"),
    completion: .keys)
  var match: [String] = []

  @Option(
    help: ArgumentHelp("Leave out the keys that match this pattern. Repeatable.", valueName: "pattern"),
    completion: .keys)
  var except: [String] = []

  func choice() throws -> KeyChoice {
    KeyChoice(
      matching: try match.map { try KeyPattern(prefix: $0) }, except: try except.map { try KeyPattern(prefix: $0) })
  }
}
