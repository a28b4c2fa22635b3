import DurableFiles
import Preferences
import VaultCore

@testable import secretprefs

/// References, by themselves and in the files that have them: env files and templates.
struct ReferenceTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    try checkReference(bytes)
    try checkEnvFile(bytes)
    try checkTemplate(bytes)
  }

  // MARK: One reference

  private func checkReference(_ bytes: [UInt8]) throws {
    let reference: SecretReference
    do throws(SecretReference.Fault) { reference = try SecretReference(bytes) } catch {
      return try demandNoSecret(error.error.message, "a reference")
    }
    try demand(SecretReference.isMeant(bytes), "a reference is not meant as one")
    let text = reference.text
    try demand(try isSame(try SecretReference(text.utf8), reference), "a reference is not read as it is written")
    try demand(try SecretReference(argument: text).map { try isSame($0, reference) } == true, "an argument")
    let file = envFile(Array("A=\(text)\n".utf8))
    guard case .reference(let found)? = file.entries.first?.content else {
      throw Violation(description: "a reference is not read from an env file")
    }
    try demand(try isSame(found, reference), "the reference of an env file")
    let parts = try TemplateParts(Array("{{\(text)}}".utf8))
    try demand(try parts.references.count == 1 && isSame(parts.references[0], reference), "that of a template")
  }

  private func isSame(_ one: SecretReference, _ other: SecretReference) throws -> Bool {
    one.group == other.group && one.service == other.service && one.key == other.key && one.text == other.text
  }

  // MARK: Env files

  private typealias Parsed = (entries: [EnvFile.Entry], values: [[UInt8]?], problems: [ReferenceProblem])

  private func envFile(_ text: [UInt8]) -> Parsed {
    withCopy(of: text) { bytes in
      let (entries, problems) = EnvFile.parse(bytes)
      let values = entries.map { entry -> [UInt8]? in
        if case .plain(let range) = entry.content { Array(bytes[range]) } else { nil }
      }
      return (entries, values, problems)
    }
  }

  private func checkEnvFile(_ text: [UInt8]) throws {
    let file = envFile(text)
    var named = Set(file.problems.map(\.line))
    for problem in file.problems { try demandNoSecret(problem.error.message, "a problem") }
    var copy: [UInt8] = []
    for (entry, value) in zip(file.entries, file.values) {
      try demand(DotenvParser.isName(entry.name), "the name of a variable")
      named.insert(entry.line)
      copy += Array("\(entry.name)=".utf8)
      switch entry.content {
      case .plain: (value ?? []).withUnsafeBytes { DotenvText.write($0) { copy.append($0) } }
      case .reference(let reference): copy += Array(reference.text.utf8)
      }
      copy.append(UInt8(ascii: "\n"))
    }
    let count = fuzzedLines(text).count
    try demand(named.allSatisfy { (1...count).contains($0) }, "the line of a variable")
    if !text.contains(where: { "'\"".utf8.contains($0) }) {
      let lines = fuzzedLines(text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text)
      for (index, line) in lines.enumerated() where isEntry(line) {
        try demand(named.contains(index + 1), "line \(index + 1) is neither read nor named")
      }
    }
    let again = envFile(copy)
    try demand(again.problems.isEmpty, "an env file is not read as it is written")
    try demand(again.values == file.values && again.entries.map(\.name) == file.entries.map(\.name), "an env file")
  }

  // MARK: Templates

  private func checkTemplate(_ text: [UInt8]) throws {
    let parts = try TemplateParts(text)
    for fault in parts.faults { try demandNoSecret(fault.error.message, "a template") }
    let hasReference = text.withUnsafeBytes(Template.hasReference)
    try demand(hasReference != (parts.references.isEmpty && parts.faults.isEmpty && !parts.isQuoted), "references")
    if !hasReference { try demand(parts.between == [text], "a template without references is not copied") }
    // What is between the references is as it was, and each in its place is the same.
    var rest = text[...]
    for piece in parts.between {
      guard let start = rest.firstRange(of: piece) else {
        throw Violation(description: "a template has other text between its references")
      }
      rest = rest[start.upperBound...]
    }
    try demand(parts.lines == parts.lines.sorted(), "the lines of references")
    try demand(parts.lines.allSatisfy { (1...fuzzedLines(text).count).contains($0) }, "the line of a reference")
  }
}

/// What the scan of a template finds.
private struct TemplateParts {
  private(set) var between: [[UInt8]] = []
  private(set) var references: [SecretReference] = []
  private(set) var faults: [SecretReference.Fault] = []
  private(set) var lines: [Int] = []
  private(set) var isQuoted = false

  init(_ text: [UInt8]) throws {
    try withCopy(of: text) { bytes in
      try Template.scan(UnsafeRawBufferPointer(bytes)) {
        between.append(Array(bytes[$0]))
      } reference: { match in
        lines.append(match.line)
        isQuoted = isQuoted || match.isQuoted
        switch match.result {
        case .success(let reference): if !match.isQuoted { references.append(reference) }
        case .failure(let fault): faults.append(fault)
        }
      }
    }
  }
}
