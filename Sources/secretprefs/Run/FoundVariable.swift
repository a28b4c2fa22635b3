internal import VaultCore

/// A variable of `run`, and the record that has its value.
struct FoundVariable {
  let variable: Variable
  /// `nil` for a plain value.
  let found: ReferencedValues.Found?

  /// Finds the records of all variables, each once, also if it is named again. Opens no value.
  static func all(_ variables: [Variable], in values: ReferencedValues) throws -> [FoundVariable] {
    var all: [FoundVariable] = []
    var known: [String: FoundVariable] = [:]
    var missing: [(variable: Variable, error: ToolError)] = []
    for variable in variables {
      do {
        let found = try variable.reference.map { try values.find($0, at: variable.place) }
        let next = FoundVariable(variable: variable, found: found)
        let other = known.updateValue(next, forKey: variable.name)
        if other?.isSame(as: next) != true { all.append(next) }
      } catch {
        let error = ToolError(thrown: error)
        guard error.code == VaultError.Code.notFound.rawValue else { throw variable.located(error) }
        missing.append((variable, error))
      }
    }
    guard let first = missing.first else { return all }
    let inFiles = missing.filter { $0.variable.origin != nil }
    if let bad = inFiles.first {
      let error = bad.variable.located(bad.error)
      guard inFiles.count > 1 else { throw error }
      throw error.with(hint: "\(inFiles.count) references lead to no key; \"secretprefs check <file>\" lists them all")
    }
    // One key alone is not named, because it may be a secret in the wrong place.
    guard variables.count > 1 else { throw first.error }
    let areReferences = missing.allSatisfy { $0.variable.place == nil }
    throw ToolError.missing(
      Set(missing.map(\.variable.label)), "nothing was started",
      listing: areReferences ? Hints.references : Hints.keys)
  }

  /// Whether both pass the same value in the same way.
  private func isSame(as other: FoundVariable) -> Bool {
    found != nil && found?.identity == other.found?.identity && variable.isFile == other.variable.isFile
  }
}
