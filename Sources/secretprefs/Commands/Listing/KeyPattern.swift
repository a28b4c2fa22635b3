internal import VaultCore

/// A pattern that a whole key must match: `*` stands for any characters, `?` for one, and a backslash makes the next
/// character an ordinary one.
struct KeyPattern {
  private enum Part: Equatable {
    case any, one
    case character(Unicode.Scalar)
  }

  /// As it was given.
  let text: String
  private let parts: [Part]

  /// - Throws: ``VaultError/Code/invalidName`` for text that cannot match a name.
  init(_ text: String) throws {
    var parts: [Part] = []
    // In normal form C, like the keys.
    var rest = try Vault.Name(text).text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": parts.append(.any)
      case "?": parts.append(.one)
      case "\\":
        guard let literal = rest.popFirst() else {
          throw ToolError.usage("the pattern ends with a backslash", hint: "write \\\\ for a backslash")
        }
        parts.append(.character(literal))
      default: parts.append(.character(scalar))
      }
    }
    self.text = text
    self.parts = parts
  }

  /// A pattern of an argument: one that ends with a slash or a dot matches all that begins with it.
  init(prefix text: String) throws { try self.init(text.hasSuffix("/") || text.hasSuffix(".") ? text + "*" : text) }

  func matches(_ key: String) -> Bool {
    let scalars = Array(key.unicodeScalars)
    var (part, index) = (0, 0)
    // The last `*`, and where in the key the parts after it were last tried.
    var star: (part: Int, index: Int)?
    while index < scalars.count {
      if part < parts.count, parts[part] == .any {
        star = (part, index)
        part += 1
      } else if part < parts.count, parts[part] == .one || parts[part] == .character(scalars[index]) {
        part += 1
        index += 1
      } else if let last = star {
        star = (last.part, last.index + 1)
        part = last.part + 1
        index = last.index + 1
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == .any }
  }
}
