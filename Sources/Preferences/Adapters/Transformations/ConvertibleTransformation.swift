/// Converts a stored value to a convertible type. Every chain of transformations starts with this transformation.
struct ConvertibleTransformation<Value: PreferenceConvertible>: PreferenceTransformation {
  func value(from stored: PreferenceValue) throws(PreferencesError) -> Value { try Value(preferenceValue: stored) }
  func stored(from value: Value) -> PreferenceValue { value.preferenceValue }
}
