import Foundation

/// Whether Foundation reads a property list. Its `UserDefaults` overwrites a file that it cannot read.
enum FoundationReading {
  static func canRead(_ bytes: [UInt8]) -> Bool {
    // An empty file is one without values.
    if bytes.isEmpty { return true }
    // Foundation's parser ends the process on lists that are nested too deep.
    guard !mayBeDeep(bytes) else { return false }
    do {
      return try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) is [String: Any]
    } catch { return false }
  }

  /// Whether the tags in an XML list, including those in comments, are nested deeper than 256 levels.
  private static func mayBeDeep(_ bytes: [UInt8]) -> Bool {
    var depth = 0
    // Whether the last tag opens a collection, and may still be one of an empty collection, such as `<array/>`.
    var isOpening = false
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: "<"):
        let rest = bytes[(index + 1)...]
        isOpening = rest.starts(with: "array".utf8) || rest.starts(with: "dict".utf8)
        if isOpening { depth += 1 }
        if rest.starts(with: "/array".utf8) || rest.starts(with: "/dict".utf8) { depth -= 1 }
        if depth > 256 { return true }
      case UInt8(ascii: ">"):
        // The first `>` ends a tag, also in quotes, as in Foundation's parser.
        if isOpening, bytes[index - 1] == UInt8(ascii: "/") { depth -= 1 }
        isOpening = false
      default: break
      }
    }
    return false
  }
}
