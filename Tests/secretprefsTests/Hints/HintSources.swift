import Foundation

/// The texts of hints in the sources of the tool: the literals of arguments `hint:`, those of `Hints`, and those of the
/// declarations that such arguments name.
struct HintSources {
  private let files: [String: String]

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/secretprefs")
    var files: [String: String] = [:]
    for case let url as URL in FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)!
    where url.pathExtension == "swift" {
      let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      let code = lines.filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
      files[url.lastPathComponent] = code.joined(separator: "\n")
    }
    self.files = files
  }

  /// The longest part of each literal without interpolations.
  var texts: Set<String> {
    var literals: Set<String> = []
    for (file, text) in files where file != "Messages.swift" {
      for place in text.ranges(of: "hint: ") {
        let argument = Self.argument(text[place.upperBound...])
        guard !argument.hasPrefix("String") else { continue }
        let found = Self.literals(argument)
        literals.formUnion(found.map(Self.longestPart))
        if found.isEmpty { literals.formUnion(declared(argument, in: file).map(Self.longestPart)) }
      }
    }
    let own: Substring = files["Hints.swift", default: ""][...]
    literals.formUnion(Self.literals(own).map(Self.longestPart))
    // What is the argument of a call is a part of a message.
    let databases: Substring = files["DatabaseHints.swift", default: ""][...]
    let hints = Self.literals(databases).filter { databases[databases.index(before: $0.startIndex)] != "(" }
    literals.formUnion(hints.map(Self.longestPart))
    return literals.filter { $0.count >= 6 }
  }

  /// The literals of what an argument names, such as `Self.usage` or `error ? revoked : alternatives`.
  private func declared(_ argument: Substring, in file: String) -> [Substring] {
    var found: [Substring] = []
    for path in argument.split(whereSeparator: { !$0.isLetter && $0 != "." }) {
      // The usage lines are those of the help.
      let parts = path.split(separator: ".")
      guard let type = parts.first, let name = parts.last, name != "usage" else { continue }
      let own = declarations(of: name, in: files[file, default: ""])
      found += own
      guard own.isEmpty, parts.count > 1, type != "Self", name != "hint" else { continue }
      for text in files["\(type).swift"].map({ [$0] }) ?? Array(files.values) {
        found += declarations(of: name, in: text)
      }
    }
    return found
  }

  private func declarations(of name: Substring, in text: String) -> [Substring] {
    var found: [Substring] = []
    for start in ["let \(name) =", "let \(name):", "var \(name):", "func \(name)("] {
      for place in text.ranges(of: start) {
        let rest = text[place.upperBound...]
        let body = rest[..<(rest.firstRange(of: "\n\n")?.lowerBound ?? rest.endIndex)]
        // What is the first argument of a call is a message.
        found += Self.literals(body).filter { text[text.index(before: $0.startIndex)] != "(" }
      }
    }
    return found
  }

  /// An argument up to its comma or the closing bracket of its call.
  private static func argument(_ text: Substring) -> Substring {
    var depth = 0
    var index = text.startIndex
    while index < text.endIndex {
      switch text[index] {
      case "\"":
        index = end(ofLiteral: index, in: text)
        continue
      case "(", "[", "{": depth += 1
      case ")" where depth == 0, "]" where depth == 0, "}" where depth == 0, "," where depth == 0:
        return text[..<index]
      case ")", "]", "}": depth -= 1
      default: break
      }
      index = text.index(after: index)
    }
    return text
  }

  private static func literals(_ text: Substring) -> [Substring] {
    var literals: [Substring] = []
    var rest = text
    while let start = rest.firstIndex(of: "\"") {
      let end = end(ofLiteral: start, in: text)
      literals.append(text[start..<end])
      rest = text[end...]
    }
    return literals
  }

  /// The place after the closing quotation mark of a literal of one line.
  private static func end(ofLiteral start: Substring.Index, in text: Substring) -> Substring.Index {
    var index = text.index(after: start)
    while index < text.endIndex, text[index] != "\"" {
      guard text[index] == "\\" else {
        index = text.index(after: index)
        continue
      }
      index = text.index(after: index)
      guard text[index] == "(" else {
        index = text.index(after: index)
        continue
      }
      var depth = 0
      repeat {
        if text[index] == "\"" {
          index = end(ofLiteral: index, in: text)
          continue
        }
        if text[index] == "(" { depth += 1 }
        if text[index] == ")" { depth -= 1 }
        index = text.index(after: index)
      } while depth > 0
    }
    return index < text.endIndex ? text.index(after: index) : index
  }

  private static func longestPart(_ literal: Substring) -> String {
    var parts = [""]
    var rest = literal.dropFirst().dropLast()
    while let next = rest.popFirst() {
      guard next == "\\", let escaped = rest.popFirst() else {
        parts[parts.count - 1].append(next)
        continue
      }
      guard escaped == "(" else {
        parts[parts.count - 1].append(escaped)
        continue
      }
      let inside = argument(rest)
      rest = rest[inside.endIndex...].dropFirst()
      parts.append("")
    }
    return parts.max { $0.count < $1.count } ?? ""
  }
}
