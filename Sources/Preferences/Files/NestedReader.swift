/// Values that are not, or not yet, the values of a store, looked up as in a file.
struct NestedReader: PreferencesReader {
  let name = "values"
  let values: [String: PreferenceValue]
  let isText: Bool

  func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    try NestedValues.find(query, in: values, isText: isText)
  }

  func names(of secrecy: Secrecy) -> [PreferenceName] { NestedValues.keys(of: values) }
}
