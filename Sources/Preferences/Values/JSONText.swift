import FoundationEssentials

/// Values that stand for what JSON can represent and a value cannot, as its text, which a JSON file gets back. A reader
/// returns dictionaries with a mark: a lookup of another type fails.
package enum JSONText {
  private static let valueMark = "$json"
  private static let membersMark = "$members"

  /// A value, such as an array with null, or a number too large or too small for a double.
  static func value(_ text: String) -> PreferenceValue { .dictionary([valueMark: .string(text)]) }

  /// The members of an object whose names are equal and have different bytes; it has the first of the names.
  static func members(_ texts: [String]) -> PreferenceValue {
    .dictionary([membersMark: .string(texts.joined(separator: ", "))])
  }

  /// Whether the value is one that JSON has and no type has.
  static func isKept(_ value: PreferenceValue) -> Bool {
    text(of: value, valueMark) != nil || text(of: value, membersMark) != nil
  }

  /// What an error calls the value: its kind, or what JSON has in its place.
  static func name(of value: PreferenceValue) -> String {
    guard value.kind == .dictionary, let text = text(of: value) else { return "\(value.kind)" }
    return text.hasPrefix("[") ? "an array with a null" : "a number that is too large or too small"
  }

  /// A text that is written as it is, such as null. It is data, which no value that is represented in JSON is.
  package static func foreign(_ text: String) -> PreferenceValue { .data(Data(text.utf8)) }

  /// The text of a value that is written as it is.
  package static func text(of value: PreferenceValue) -> String? {
    if case .data(let foreign) = value { return String(decoding: foreign, as: UTF8.self) }
    guard let text = text(of: value, valueMark), parsed("{\"a\":\(text)}")?["a"] == value else { return nil }
    return text
  }

  /// The text of members that are written as they are.
  package static func members(of value: PreferenceValue, named name: String) -> String? {
    guard let text = text(of: value, membersMark), let members = parsed("{\(text)}"), members.count == 1,
      members[name] == value
    else { return nil }
    return text
  }

  private static func text(of value: PreferenceValue, _ mark: String) -> String? {
    guard case .dictionary(let members) = value, members.count == 1, case .string(let text)? = members[mark] else {
      return nil
    }
    return text
  }

  private static func parsed(_ text: String) -> [String: PreferenceValue]? {
    do {
      var parser = try JSONParser(Array(text.utf8))
      return try parser.parse()
    } catch { return nil }
  }
}
