/// A variable that `run` passes to its command, and the key whose value it gets.
struct Variable {
  let name: String
  let key: String
  /// Whether the value is in a file, whose path the variable holds.
  let isFile: Bool

  /// The variable whose name follows from its key.
  init(key: String) { (name, self.key, isFile) = (VariableName.derived(from: key), key, false) }

  /// Parses `NAME=key`.
  init(_ assignment: String, isFile: Bool) throws(ToolError) {
    let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, VariableName.isValid(parts[0]) else {
      throw .usage(
        "--env and --file need a variable name, an equals sign and a key",
        hint: "a name has ASCII letters, digits and underscores, and begins with no digit: --env DB=db/password")
    }
    (name, key, self.isFile) = (parts[0], parts[1], isFile)
  }

  /// Checks that the names are allowed and differ. The keys must exist, because errors name them.
  static func check(_ variables: [Variable]) throws(ToolError) {
    var keys: [String: String] = [:]
    for variable in variables {
      guard !VariableName.isReserved(variable.name) else {
        throw .usage(
          "the key \"\(variable.key)\" would become a variable that can make programs run other code or unlock a vault",
          hint: "--env NAME=key gives it a different name; --only and --env leave it out")
      }
      if let other = keys.updateValue(variable.key, forKey: variable.name) {
        throw .usage(
          "the keys \"\(other)\" and \"\(variable.key)\" become the same variable",
          hint: "--env NAME=key gives one of them a different name; --only and --env leave it out")
      }
    }
  }
}
