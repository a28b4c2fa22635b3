/// A variable that `run` passes to its command, and where its value is.
struct Variable {
  enum Content {
    /// A value of the vault.
    case value(SecretReference)
    /// A plain value of an env file.
    case plain(EnvFile, Range<Int>)
  }

  let name: String
  let content: Content
  /// What errors call the value: the key, or the reference as it was given.
  let label: String
  /// The place of a key that was named without one.
  private(set) var place: RecordPlace?
  /// Whether the value is in a file, whose path the variable holds.
  var isFile = false
  /// Whether the caller has named the key.
  var isChosen = true
  /// The file and the line that name it; `nil` for arguments.
  var origin: String?
  /// Why other programs read a different plain value in this line; `nil` if they read the same.
  private(set) var doubt: String?

  /// The variable whose name follows from its key.
  init(_ key: NamedKey, isChosen: Bool) {
    name = VariableName.derived(from: key.reference.key)
    content = .value(key.reference)
    label = key.label
    place = key.place
    self.isChosen = isChosen
  }

  /// Parses `NAME=key`.
  init(_ assignment: String, isFile: Bool, in usual: RecordPlace) throws {
    let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, VariableName.isValid(parts[0]) else {
      throw ToolError.usage(
        "--env and --file need a variable name, an equals sign and a key",
        hint: "a name has ASCII letters, digits and underscores, and begins with no digit: --env DB=db/password")
    }
    let key = try NamedKey(parts[1], in: usual)
    name = parts[0]
    content = .value(key.reference)
    label = key.label
    place = key.place
    self.isFile = isFile
  }

  /// The variable of a line of an env file.
  init(_ entry: EnvFile.Entry, of file: EnvFile) {
    name = entry.name
    switch entry.content {
    case .plain(let range):
      content = .plain(file, range)
      label = entry.name
      doubt = entry.doubt
    case .reference(let reference):
      content = .value(reference)
      label = reference.text
    }
    origin = "\(file.path):\(entry.line)"
  }

  var reference: SecretReference? {
    guard case .value(let reference) = content else { return nil }
    return reference
  }

  /// An error about this variable. One of an argument names the key by itself, where it may.
  func located(_ error: ToolError) -> ToolError { origin.map { error.about("\($0): \(label)") } ?? error }

  /// The variables of all layers, without those whose name a later layer has.
  static func merged(_ layers: [[Variable]]) -> [Variable] {
    var variables: [Variable] = []
    for layer in layers {
      let names = Set(layer.map(\.name))
      variables = variables.filter { !names.contains($0.name) } + layer
    }
    return variables
  }

  /// Checks that the names are allowed and differ. The keys must exist, because errors name them.
  static func check(_ variables: [Variable]) throws(ToolError) {
    let reserved = variables.filter { $0.reference != nil && VariableName.isReserved($0.name) }
    let settings = variables.filter { !$0.isChosen && ProgramVariables.contains($0.name) }
    // Under its own name, a reserved key is passed in no case.
    let refused = reserved + settings.filter { !VariableName.isReserved($0.name) }
    guard refused.isEmpty else {
      let names = listed(refused.map { "\"\($0.label)\" (\($0.name))" })
      throw .usage(
        "nothing was started: programs read "
          + (refused.count == 1 ? "the variable of this key as a setting" : "the variables of these keys as settings")
          + ", which changes how they work or what they run: \(names)",
        hint: reserved.isEmpty ? chooseSetting : chooseName)
    }
    var labels: [String: String] = [:]
    for variable in variables {
      if let other = labels.updateValue(variable.label, forKey: variable.name) {
        throw .usage(
          "the keys \"\(other)\" and \"\(variable.label)\" become the same variable",
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
