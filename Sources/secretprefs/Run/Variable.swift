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
    let reserved = variables.filter { VariableName.isReserved($0.name) }
    let settings = variables.filter { !$0.isChosen && ProgramVariables.contains($0.name) }
    // Under its own name, a reserved key is passed in no case.
    let refused = reserved + settings.filter { !VariableName.isReserved($0.name) }
    guard refused.isEmpty else {
      let names = listed(refused.map { "\"\($0.key)\" (\($0.name))" })
      throw .usage(
        "nothing was started: programs read "
          + (refused.count == 1 ? "the variable of this key as a setting" : "the variables of these keys as settings")
          + ", which changes how they work or what they run: \(names)",
        hint: reserved.isEmpty ? chooseSetting : chooseName)
    }
    var keys: [String: String] = [:]
    for variable in variables {
      if let other = keys.updateValue(variable.key, forKey: variable.name) {
        throw .usage(
          "the keys \"\(other)\" and \"\(variable.key)\" become the same variable",
          hint: "--env NAME=key gives one of them a different name; --only and --env leave it out")
      }
    }
  }

  private static let chooseSetting =
    "--only key passes such a key on purpose, and --env NAME=key under a different name; keys that are not named "
    + "are left out"
  private static let chooseName =
    "--env NAME=key passes such a key under a different name, and --only key the others; keys that are not named "
    + "are left out"
}
