import FoundationEssentials
import Preferences

extension PreferenceKey {
  /// The text that ``value(parsing:)`` reads as `value`; empty for a missing value, and for a value without a text
  /// form.
  func text(of value: Value) -> String {
    // A flag may be stored as its opposite.
    if kind == .bool, let flag = value as? Bool { return "\(flag)" }
    do { return try encode(value)?.text ?? "" } catch { return "" }
  }

  /// The value for people to read; empty for a missing value.
  func shown(_ value: Value) -> String {
    guard kind == .array || kind == .dictionary else { return text(of: value) }
    do { return try encode(value)?.shown ?? "" } catch { return "" }
  }

  /// Returns the value that the text of a control describes.
  ///
  /// - Throws: as ``value(parsing:)``; ``PreferencesError/Code/outOfRange`` for text that the control never has.
  func value(parsing text: String, from control: SettingControl) throws(PreferencesError) -> Value {
    // The text of these values is always empty: submitting it unchanged must not remove the value.
    if text.isEmpty, control == .secret || control == .readOnly {
      throw PreferencesError(.outOfRange, "the text is empty").about(key: name)
    }
    if control == .text, SettingLines.hasSeveral(text) {
      throw PreferencesError(.outOfRange, "the text has several lines").about(key: name)
    }
    return try value(parsing: text)
  }

  /// Returns the value that `text` describes. Empty text is the default, if setting the default removes the stored
  /// value.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch``, or ``PreferencesError/Code/outOfRange`` if no value has this
  ///   text. The message does not contain the text.
  func value(parsing text: String) throws(PreferencesError) -> Value {
    if text.isEmpty, removes(defaultValue) { return defaultValue }
    // A list in text is for layers of text: on a screen, any text would replace it.
    guard kind != .array, kind != .dictionary, let value = PreferenceValue(parsing: text, as: kind) else {
      throw .unparsable("the text", as: kind, key: name)
    }
    if case .bool(let flag) = value, let flag = flag as? Value { return flag }
    return try decoded(value)
  }

  /// Whether setting `value` removes the stored value.
  private func removes(_ value: Value) -> Bool {
    do { return try content(of: value) == nil } catch { return false }
  }

  /// A key that reads as whether a value is stored, without a copy of a secret in ordinary memory.
  var presence: PreferenceKey<Bool> {
    PreferenceKey<Bool>(
      name, kind: kind, secrecy: secrecy,
      guarding: GuardedConversion(decode: { _ in true }, encode: { _ throws(PreferencesError) in nil }),
      makeDefault: { false }, decode: { _ throws(PreferencesError) in true },
      encode: { _ throws(PreferencesError) in nil })
  }
}

extension PreferenceValue {
  /// The text that parses as this value; nil for arrays and dictionaries, and for a date outside the years 0 to 9999.
  fileprivate var text: String? {
    switch self {
    case .string(let text): text
    case .data(let data): data.base64EncodedString()
    case .bool(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .unsignedInteger(let number): "\(number)"
    case .double(let number): "\(number)"
    case .date(let date): PreferenceTimestamp.text(date) ?? PreferenceTimestamp.text(date, withMilliseconds: true)
    case .url(let url): url.absoluteString
    case .array, .dictionary: nil
    }
  }

  /// The value for people to read, an array or a dictionary like JSON. Members whose name says that they are secret are
  /// redacted.
  fileprivate var shown: String {
    switch self {
    case .array(let items): "[\(items.map(\.quoted).joined(separator: ", "))]"
    case .dictionary(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { name, member in
          "\(name.debugDescription): \(SettingName(name).saysSecret(member.kind) ? "<redacted>" : member.quoted)"
        }.joined(separator: ", ") + "}"
    default: text ?? ""
    }
  }

  private var quoted: String {
    switch self {
    case .string, .data, .date, .url: hasPassword ? "<redacted>" : shown.debugDescription
    default: shown
    }
  }
}

/// Text with control characters escaped, as in a message.
func escaped(_ text: String) -> String { PreferencesError(.unavailable, text).message }

extension PreferenceValue.Kind {
  /// The kind in a message for people, after *is not*.
  var article: String {
    switch self {
    case .string: "text"
    case .data: "Base64"
    case .bool: "yes or no"
    case .integer: "a whole number"
    case .unsignedInteger: "a whole number from zero"
    case .double: "a number"
    case .date: "a date such as 2026-01-31T12:00:00Z"
    case .url: "a URL"
    case .array, .dictionary: "editable as text"
    }
  }
}
