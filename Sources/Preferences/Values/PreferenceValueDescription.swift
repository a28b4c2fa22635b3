import FoundationEssentials

/// Prints the kind and the content: a value by itself is not secret.
/// ``PreferencesReader/dictionary(revealingSecrets:)`` returns secrets as ``PreferenceValue/redacted``.
extension PreferenceValue: CustomStringConvertible, CustomReflectable {
  /// The kind and the content, such as `integer(8080)`.
  public var description: String {
    let content =
      switch self {
      case .string(let text): text.debugDescription
      case .data(let data): "\(data.count) bytes"
      case .bool(let flag): "\(flag)"
      case .integer(let number): "\(number)"
      case .unsignedInteger(let number): "\(number)"
      case .double(let number): "\(number)"
      case .date(let date): Self.text(of: date)
      case .url(let url): url.absoluteString
      case .array(let items): "\(items)"
      case .dictionary(let members): "\(members)"
      }
    return "\(kind)(\(content))"
  }

  /// The elements of an array or a dictionary.
  public var customMirror: Mirror {
    switch self {
    case .array(let items): Mirror(self, unlabeledChildren: items, displayStyle: .collection)
    case .dictionary(let members):
      Mirror(
        self, unlabeledChildren: members.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) },
        displayStyle: .dictionary)
    default: Mirror(self, children: EmptyCollection<Mirror.Child>())
    }
  }

  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    // Foundation's description of a date that is not finite, or too large for an integer of seconds, crashes. A file
    // that others wrote may contain such dates.
    return abs(seconds) < 1e12 ? date.description : "\(seconds) s from 2001"
  }
}
