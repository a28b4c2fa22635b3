/// What is wrong with a line of a file with references. Has the name of its variable and its reference, and no value.
struct ReferenceProblem {
  var file = ""
  let line: Int
  /// The variable, if the line has one.
  let name: String?
  /// `nil` if it could not be parsed.
  var reference: String?
  let error: ToolError

  init(line: Int, name: String?, reference: SecretReference? = nil, _ error: ToolError) {
    self.line = line
    self.name = name
    self.reference = reference?.text
    self.error = error
  }

  func `in`(_ file: String) -> ReferenceProblem {
    var problem = self
    problem.file = file
    return problem
  }

  /// The error for a command that ends with it.
  var located: ToolError { error.about(place) }

  /// Where it is: the file, the line, and the reference or else the variable.
  private var place: String { (["\(file):\(line)"] + [reference ?? name].compactMap(\.self)).joined(separator: ": ") }

  /// What a key that does not exist may be called or what became of it. What to do about other problems is the same for
  /// all of them.
  private var hint: String? {
    error.code == "notFound" && ![Hints.references, Hints.groups].contains(error.hint) ? error.hint : nil
  }

  var text: String { (["\(place): \(error.message)"] + [hint].compactMap(\.self)).joined(separator: "; ") }

  var json: JSON {
    var members: [(String, JSON)] = [("file", .string(file)), ("line", .unsigned(UInt64(line)))]
    if let name { members.append(("name", .string(name))) }
    if let reference { members.append(("reference", .string(reference))) }
    members += [("code", .string(error.code)), ("message", .string(error.message))]
    if let hint { members.append(("hint", .string(hint))) }
    return .object(members)
  }
}
