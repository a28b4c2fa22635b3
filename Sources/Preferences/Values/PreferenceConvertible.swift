public import FoundationEssentials

/// A type whose values can be stored as preferences and read back unchanged.
///
/// A string is parsed where a number, a boolean, a date or a URL is wanted, at any depth, by the rule of
/// ``PreferenceValue/init(parsing:as:)``; it is never parsed as data. Other conversions are exact. A boolean is never a
/// number, and a floating-point number is never an integer. Integers convert to each other if the value fits, and to
/// floating-point numbers that are equal to them; only `Float` rounds. Each type is stored as one kind: `Double(1)` as
/// a double, never as an integer.
///
/// Arrays, sets and ranges of such types convert, too, and dictionaries with a ``PreferenceDictionaryKey``. A type with
/// a raw value conforms with one line. A `Codable` type needs no conformance:
/// ``PreferenceKey/codable(_:default:kind:encoder:decoder:)`` makes its keys. Collections and sets of your own conform
/// with ``PreferenceCollection`` and ``PreferenceSetAlgebra``. `nil` is stored by removing the key, so a key can have
/// the type `Int?`, while `[Int?]` does not compile.
public protocol PreferenceConvertible: Sendable {
  /// The kind that values of this type are stored as, and that text-backed layers parse.
  static var preferenceKind: PreferenceValue.Kind { get }

  /// Creates the value from a stored value.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` for a different kind, ``PreferencesError/Code/outOfRange`` if
  ///   this type cannot hold the value exactly. The message must not contain the value.
  init(preferenceValue: PreferenceValue) throws(PreferencesError)

  /// The value as it is stored.
  var preferenceValue: PreferenceValue { get }
}

extension String: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .string }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .string(let string) = value else { throw .mismatch(expected: .string, found: value.kind) }
    self = string
  }

  public var preferenceValue: PreferenceValue { .string(self) }
}

extension Data: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .data }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .data(let data) = value else { throw .mismatch(expected: .data, found: value.kind) }
    self = data
  }

  public var preferenceValue: PreferenceValue { .data(self) }
}

extension Bool: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .bool }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .bool(let bool) = try Self.parsed(value) else { throw .mismatch(expected: .bool, found: value.kind) }
    self = bool
  }

  public var preferenceValue: PreferenceValue { .bool(self) }
}

extension Date: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .date }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .date(let date) = try Self.parsed(value) else { throw .mismatch(expected: .date, found: value.kind) }
    self = date
  }

  public var preferenceValue: PreferenceValue { .date(self) }
}

extension URL: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .url }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .url(let url) = try Self.parsed(value) else { throw .mismatch(expected: .url, found: value.kind) }
    self = url
  }

  public var preferenceValue: PreferenceValue { .url(self) }
}

/// Stored as a string in upper case; read in either case.
extension UUID: PreferenceConvertible, StoredAsForm {
  init(form text: String) throws(PreferencesError) {
    guard let uuid = UUID(uuidString: text) else { throw PreferencesError(.outOfRange, "the string is no UUID") }
    self = uuid
  }

  var form: String { uuidString }
}

extension UUID: PreferenceDictionaryKey {
  public static func fromPreferenceText(_ text: String) -> Self? { Self(uuidString: text) }
  public var preferenceText: String { uuidString }
}

/// Stored as a string of one character.
extension Character: PreferenceConvertible, StoredAsForm {
  init(form text: String) throws(PreferencesError) {
    guard let character = text.first, text.count == 1 else {
      throw PreferencesError(.outOfRange, "expected a string of one character")
    }
    self = character
  }

  var form: String { String(self) }
}
