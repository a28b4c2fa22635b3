internal import VaultCore
internal import VaultSealing

/// The references of a file, for `check`: an env file of `run`, or a template of `inject`.
struct CheckedFile {
  struct Line {
    let number: Int
    /// The variable; `nil` in a template.
    let name: String?
    let reference: SecretReference
  }

  let path: String
  private(set) var lines: [Line] = []
  private(set) var problems: [ReferenceProblem] = []
  /// The plain lines of an env file.
  private(set) var plain: [Variable] = []

  /// - Parameter isTemplate: Whether it is a template. Otherwise that is seen in the file: it has references in braces,
  ///   no line of an env file with a reference, and no name of an env file.
  init(_ path: String, isTemplate: Bool) throws {
    self.path = path
    let bytes = try ReferenceFile.read(path, atMost: Template.longest, "file")
    try bytes.withUnsafeBytes { bytes in
      let hasBraces = Template.hasReference(bytes)
      guard !isTemplate, bytes.count <= EnvFile.longest || !hasBraces else { return try scan(template: bytes) }
      guard bytes.count <= EnvFile.longest else {
        throw ToolError(VaultError(.limitExceeded, "\(path): an env file has at most \(EnvFile.longest) bytes"))
      }
      // Parsing decodes values in place.
      let file = EnvFile(path, try SecretBytes(copying: bytes))
      if hasBraces, !file.hasReferences, !path.hasSuffix(".env") { try scan(template: bytes) } else { add(file) }
    }
  }

  private mutating func scan(template: UnsafeRawBufferPointer) throws {
    try Template.scan(template) { _ in
    } reference: { match in
      switch match.result {
      case .success(let reference):
        if !match.isQuoted { lines.append(Line(number: match.line, name: nil, reference: reference)) }
      case .failure(let fault):
        problems.append(ReferenceProblem(line: match.line, name: nil, fault.error).in(path))
      }
    }
  }

  private mutating func add(_ file: EnvFile) {
    problems = file.problems
    for entry in file.entries {
      switch entry.content {
      case .reference(let reference):
        lines.append(Line(number: entry.line, name: entry.name, reference: reference))
      case .plain: plain.append(Variable(entry, of: file))
      }
    }
  }

  /// Finds the records of the references, and adds a problem for each that the command of the file could not use.
  mutating func find(in values: ReferencedValues, _ rule: ReferenceRule) throws {
    for line in lines {
      do {
        let found = try values.find(line.reference)
        try rule.check(found.record, isVariable: line.name != nil)
      } catch {
        let error = ToolError(thrown: error)
        guard ReferenceRule.concerns(error) else { throw error }
        problems.append(
          ReferenceProblem(line: line.number, name: line.name, reference: line.reference, error).in(path))
      }
    }
    problems.sort { $0.line < $1.line }
  }
}
