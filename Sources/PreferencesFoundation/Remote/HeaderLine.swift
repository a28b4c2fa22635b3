import Preferences

/// A header field as it is sent.
struct HeaderLine: Sendable {
  /// The field in the form that libcurl wants.
  let text: String
  private let field: String

  init(_ field: String, _ value: String) {
    self.field = field.lowercased()
    // libcurl removes its own field of that name if nothing follows the colon.
    text = value.allSatisfy { $0 == " " || $0 == "\t" } ? "\(field);" : "\(field): \(value)"
  }

  /// - Throws: `malformed` for text that would add a field or a request. The message names the field and never its
  ///   value.
  static func lines(of fields: [String: String]) throws(PreferencesError) -> [HeaderLine] {
    for (field, value) in fields {
      guard !field.isEmpty, field.utf8.allSatisfy(isOfName) else {
        throw PreferencesError(.malformed, "the header field \"\(field)\" does not have a valid name")
      }
      guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw PreferencesError(.malformed, "the header field \"\(field)\" has control characters")
      }
    }
    return fields.map { HeaderLine($0.key, $0.value) }
  }

  func isSameField(as other: HeaderLine) -> Bool { field == other.field }

  /// RFC 9110, 5.6.2.
  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
