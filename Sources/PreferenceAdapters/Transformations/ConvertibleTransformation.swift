internal import Preferences

/// From a value to a type that it converts to: where every chain of transformations begins.
struct ConvertibleTransformation<Value: PreferenceConvertible>: PreferenceTransformation {
  func value(from stored: PreferenceValue) throws(PreferencesError) -> Value { try Value(preferenceValue: stored) }
  func stored(from value: Value) -> PreferenceValue { value.preferenceValue }
}
