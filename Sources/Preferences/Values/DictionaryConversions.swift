/// A type whose values can be the keys of a stored dictionary, where every key is a string.
///
/// Unequal values must have different strings. For this reason floating-point types do not conform: all NaNs have the
/// same string. A type that is `LosslessStringConvertible`, or an enum whose raw value is a key, needs one line:
///
/// ```swift
/// extension Weekday: PreferenceDictionaryKey {}
/// ```
public protocol PreferenceDictionaryKey: Hashable, Sendable {
  /// Returns the key that is stored as `text`; `nil` if there is none.
  static func fromPreferenceText(_ text: String) -> Self?

  /// The string that the key is stored as.
  var preferenceText: String { get }
}

extension PreferenceDictionaryKey where Self: LosslessStringConvertible {
  public static func fromPreferenceText(_ text: String) -> Self? { Self(text) }
  public var preferenceText: String { description }
}

extension PreferenceDictionaryKey where Self: RawRepresentable, RawValue: PreferenceDictionaryKey {
  public static func fromPreferenceText(_ text: String) -> Self? {
    RawValue.fromPreferenceText(text).flatMap(Self.init(rawValue:))
  }

  public var preferenceText: String { rawValue.preferenceText }
}

extension String: PreferenceDictionaryKey {}
extension Int: PreferenceDictionaryKey {}
extension Int8: PreferenceDictionaryKey {}
extension Int16: PreferenceDictionaryKey {}
extension Int32: PreferenceDictionaryKey {}
extension Int64: PreferenceDictionaryKey {}
extension UInt: PreferenceDictionaryKey {}
extension UInt8: PreferenceDictionaryKey {}
extension UInt16: PreferenceDictionaryKey {}
extension UInt32: PreferenceDictionaryKey {}
extension UInt64: PreferenceDictionaryKey {}

/// Stored as a dictionary. If one entry does not convert, the whole dictionary fails.
extension Dictionary: PreferenceConvertible where Key: PreferenceDictionaryKey, Value: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .dictionary }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .dictionary(let values) = value.unfolded else {
      throw .mismatch(expected: .dictionary, found: value.kind)
    }
    var entries: [Key: Value] = [:]
    entries.reserveCapacity(values.count)
    for (text, value) in values {
      do throws(PreferencesError) {
        guard let key = Key.fromPreferenceText(text) else {
          throw PreferencesError(.outOfRange, "its key is not of type \(Key.self)")
        }
        guard entries.updateValue(try Value(preferenceValue: value), forKey: key) == nil else {
          // Such as `1` and `01`, written by hand.
          throw PreferencesError(.outOfRange, "its key is repeated in a different spelling")
        }
      } catch {
        throw error.about("entry \"\(text)\"", discreetly: "an entry")
      }
    }
    self = entries
  }

  public var preferenceValue: PreferenceValue {
    .dictionary(
      Dictionary<String, PreferenceValue>(
        map { ($0.key.preferenceText, $0.value.preferenceValue) }, uniquingKeysWith: { first, _ in first }))
  }
}
