public import FoundationEssentials

/// The value of a preference, tagged with its type.
///
/// All stores hold only such values, so any layer returns the value that was written: `true`, `1` and `1.0` are three
/// values, and so are `.integer(1)` and `.unsignedInteger(1)`.
///
/// Doubles compare as IEEE 754 says: 0 equals -0, and has the same hash; NaN does not equal itself, so neither a set
/// nor `==` finds it. There is no null value: an absent value is `Optional<PreferenceValue>.none`, and a `nil` literal
/// for a value does not compile.
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
  /// A URL.
  case url(URL)
  /// Values in order.
  case array([PreferenceValue])
  /// Values by name, without an order.
  case dictionary([String: PreferenceValue])

  /// The type of a value, without the value.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The kind of ``PreferenceValue/string(_:)``.
    case string
    /// The kind of ``PreferenceValue/data(_:)``.
    case data
    /// The kind of ``PreferenceValue/bool(_:)``.
    case bool
    /// The kind of ``PreferenceValue/integer(_:)``.
    case integer
    /// The kind of ``PreferenceValue/unsignedInteger(_:)``.
    case unsignedInteger
    /// The kind of ``PreferenceValue/double(_:)``.
    case double
    /// The kind of ``PreferenceValue/date(_:)``.
    case date
    /// The kind of ``PreferenceValue/url(_:)``.
    case url
    /// The kind of ``PreferenceValue/array(_:)``.
    case array
    /// The kind of ``PreferenceValue/dictionary(_:)``.
    case dictionary
  }

  /// The kind of this value.
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
  /// Creates the stored form of `value`.
  public init(_ value: some PreferenceConvertible) {
    self = value.preferenceValue
  }

  /// This value as a `Value`; `nil` if it does not convert: ``PreferenceConvertible/init(preferenceValue:)`` throws the
  /// reason.
  public func `as`<Value: PreferenceConvertible>(_ type: Value.Type = Value.self) -> Value? {
    do { return try Value(preferenceValue: self) } catch { return nil }
  }

  /// Replaces this value by `value`, of any kind.
  public mutating func set(_ value: some PreferenceConvertible) {
    self = value.preferenceValue
  }

  /// The value under `key`; `nil` if there is none, or this is not a dictionary.
  public subscript(key: String) -> PreferenceValue? {
    guard case .dictionary(let entries) = self else { return nil }
    return entries[key]
  }

  /// The element at `index`; `nil` if there is none, or this is not an array.
  public subscript(index: Int) -> PreferenceValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }
}

/// A value of any kind, unconverted: the type of a key whose values differ in kind, and of the members of a dictionary.
///
/// ```swift
/// extension PreferenceKey<[String: PreferenceValue]> {
///   static let magic = Self("magic", default: [:])
/// }
/// settings[.magic]["number"] = 3
/// settings[.magic]["text"] = "three"
/// ```
///
/// Text-backed layers, such as the environment, return it as a string.
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
  /// Creates a dictionary; the last value of a repeated key counts.
  public init(dictionaryLiteral elements: (String, PreferenceValue)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
