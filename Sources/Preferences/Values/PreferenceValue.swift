public import FoundationEssentials

/// One value of a preference, tagged with its type.
///
/// Every store holds these and nothing else, so a value read from any layer is the value that was written:
/// `true`, `1` and `1.0` are three values, and so are `.integer(1)` and `.unsignedInteger(1)`.
/// Doubles compare as IEEE 754 says: NaN is not equal to itself.
public enum PreferenceValue: Sendable, Hashable {
  case string(String)
  case data(Data)
  case bool(Bool)
  case integer(Int64)
  case unsignedInteger(UInt64)
  case double(Double)
  case date(Date)
  case url(URL)
  case array([PreferenceValue])
  case dictionary([String: PreferenceValue])

  /// The type of a value, without the value.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case string
    case data
    case bool
    case integer
    case unsignedInteger
    case double
    case date
    case url
    case array
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
