public import FoundationEssentials

/// One value of a preference, tagged with its type.
///
/// Every store holds these and nothing else, so a value read from any layer is the value that was written:
/// `true`, `1` and `1.0` are three values, and so are `.integer(1)` and `.unsignedInteger(1)`.
///
/// Doubles compare as IEEE 754 says: 0 and -0 are equal, and have one hash; NaN is not equal to itself, so neither a
/// set nor `==` finds it again. There is no value that means nil: absent is `Optional<PreferenceValue>.none`, and a nil
/// literal for a value does not compile.
public enum PreferenceValue: Sendable, Hashable {
  /// Text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// True or false.
  case bool(Bool)
  /// A whole number with a sign, of 64 bits.
  case integer(Int64)
  /// A whole number without a sign, of 64 bits.
  case unsignedInteger(UInt64)
  /// A floating-point number.
  case double(Double)
  /// A point in time.
  case date(Date)
  /// A URL, as its text.
  case url(URL)
  /// Values in order.
  case array([PreferenceValue])
  /// Values under names, in no order.
  case dictionary([String: PreferenceValue])

  /// The type of a value, without the value.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// That of ``PreferenceValue/string(_:)``.
    case string
    /// That of ``PreferenceValue/data(_:)``.
    case data
    /// That of ``PreferenceValue/bool(_:)``.
    case bool
    /// That of ``PreferenceValue/integer(_:)``.
    case integer
    /// That of ``PreferenceValue/unsignedInteger(_:)``.
    case unsignedInteger
    /// That of ``PreferenceValue/double(_:)``.
    case double
    /// That of ``PreferenceValue/date(_:)``.
    case date
    /// That of ``PreferenceValue/url(_:)``.
    case url
    /// That of ``PreferenceValue/array(_:)``.
    case array
    /// That of ``PreferenceValue/dictionary(_:)``.
    case dictionary
  }

  /// The type of this value.
  public var kind: Kind {
    switch self {
    case .string: .string
    case .data: .data
    case .bool: .bool
    case .integer: .integer
    case .unsignedInteger: .unsignedInteger
    case .double: .double
    case .date: .date
    case .url: .url
    case .array: .array
    case .dictionary: .dictionary
    }
  }
}

// MARK: Any type in, one type out

extension PreferenceValue {
  /// The value of any type that can be stored.
  public init(_ value: some PreferenceConvertible) {
    self = value.preferenceValue
  }

  /// This as a `Value`, or nil when it is none. ``PreferenceConvertible/init(preferenceValue:)`` says why not.
  public func `as`<Value: PreferenceConvertible>(_ type: Value.Type = Value.self) -> Value? {
    do { return try Value(preferenceValue: self) } catch { return nil }
  }

  /// Becomes `value`, of whatever kind.
  public mutating func set(_ value: some PreferenceConvertible) {
    self = value.preferenceValue
  }

  /// The value under `key` of a dictionary; nil when there is none, or this is no dictionary.
  public subscript(key: String) -> PreferenceValue? {
    guard case .dictionary(let entries) = self else { return nil }
    return entries[key]
  }

  /// The element of an array; nil when it has none there, or this is no array.
  public subscript(index: Int) -> PreferenceValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }
}

/// A value of any kind, as it is stored: the type of a key whose values differ in kind, and of the members of a dictionary.
///
/// ```swift
/// extension PreferenceKey<[String: PreferenceValue]> {
///   static let magic = Self("magic", default: [:])
/// }
/// settings[.magic]["number"] = 3
/// settings[.magic]["text"] = "three"
/// ```
///
/// Layers of text, such as the environment, read it as a string.
extension PreferenceValue: PreferenceConvertible {
  public static var preferenceKind: Kind { .string }
  public init(preferenceValue value: PreferenceValue) { self = value }
  public var preferenceValue: PreferenceValue { self }
}

extension PreferenceValue: ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) {
    self = .string(value)
  }
}

extension PreferenceValue: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) {
    self = .integer(value)
  }
}

extension PreferenceValue: ExpressibleByFloatLiteral {
  public init(floatLiteral value: Double) {
    self = .double(value)
  }
}

extension PreferenceValue: ExpressibleByBooleanLiteral {
  public init(booleanLiteral value: Bool) {
    self = .bool(value)
  }
}

extension PreferenceValue: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: PreferenceValue...) {
    self = .array(elements)
  }
}

extension PreferenceValue: ExpressibleByDictionaryLiteral {
  /// Creates a dictionary; of a repeated key the last value counts.
  public init(dictionaryLiteral elements: (String, PreferenceValue)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
