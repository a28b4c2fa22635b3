/// A variable that `run` passes to its command, and the key whose value it gets.
struct Variable {
  let name: String
  let key: String
  /// Whether the value is in a file, whose path the variable holds.
  let isFile: Bool
  /// Whether the caller has named the key.
  let isChosen: Bool

  /// The variable whose name follows from its key.
  init(key: String, isChosen: Bool) {
    name = VariableName.derived(from: key)
    self.key = key
    isFile = false
    self.isChosen = isChosen
  }

  /// Parses `NAME=key`.
  init(_ assignment: String, isFile: Bool) throws(ToolError) {
    let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, VariableName.isValid(parts[0]) else {
      throw .usage(
        "--env and --file need a variable name, an equals sign and a key",
        hint: "a name has ASCII letters, digits and underscores, and begins with no digit: --env DB=db/password")
    }
    name = parts[0]
    key = parts[1]
    self.isFile = isFile
    isChosen = true
  }

  /// Checks that the names are allowed and differ. The keys must exist, because errors name them.
  static func check(_ variables: [Variable]) throws(ToolError) {
    var keys: [String: String] = [:]
    for variable in variables {
      guard !VariableName.isReserved(variable.name) else {
        throw .usage(
          "the key \"\(variable.key)\" would become \(variable.name), which can make programs run other code or "
            + "unlock a vault",
          hint: "--env NAME=key gives it a different name; --only and --env leave it out")
      }
      if let other = keys.updateValue(variable.key, forKey: variable.name) {
        throw .usage(
          "the keys \"\(other)\" and \"\(variable.key)\" become the same variable",
          hint: "--env NAME=key gives one of them a different name; --only and --env leave it out")
      }
    }
    let settings = variables.filter { !$0.isChosen && ProgramVariables.contains($0.name) }
    guard settings.isEmpty else {
      throw .usage(
        "without being chosen, keys would become variables that programs have as settings: "
          + listed(settings.map { "\"\($0.key)\" (\($0.name))" }),
        hint:
          "choose the keys to pass: --only key as it is, or --env NAME=key with a different name; others are left out")
    }
  }
}
