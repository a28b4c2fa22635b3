/// Stores a raw value for a type that does not conform to `PreferenceConvertible`, such as another module's enum.
///
/// Reading a raw value that the type does not define throws `PreferencesError.Code.outOfRange`.
public struct RawValueTransformation<Value: RawRepresentable & Sendable>: PreferenceTransformation
where Value.RawValue: Sendable {
  /// Creates the transformation of a type.
  public init(_ type: Value.Type = Value.self) {}

  public func value(from stored: Value.RawValue) throws(PreferencesError) -> Value {
    guard let value = Value(rawValue: stored) else {
      throw PreferencesError(.outOfRange, "the value is not a raw value of \(Value.self)")
    }
    return value
  }

  public func stored(from value: Value) -> Value.RawValue { value.rawValue }
}
