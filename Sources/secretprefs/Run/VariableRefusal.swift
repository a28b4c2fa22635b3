internal import VaultCore

/// A value that cannot be passed as a variable.
struct VariableRefusal: Error {
  let error: ToolError

  init(_ variable: Variable, isText: Bool) {
    let reason = isText ? "contains NUL" : "is data and not text"
    let error = ToolError(
      VaultError(
        .typeMismatch,
        variable.origin == nil ? "the value of the key \"\(variable.label)\" \(reason)" : "the value \(reason)"),
      hint: "--file NAME=key passes it as a file; --only and --env leave it out")
    self.error = variable.located(error)
  }
}
