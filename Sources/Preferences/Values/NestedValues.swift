/// Looks up and changes values in nested dictionaries by names with dots. `FilePreferences` has the rule.
package enum NestedValues {
  package static func find(_ key: some StringProtocol, in values: [String: PreferenceValue]) -> PreferenceValue? {
    var values = values
    var rest = Substring(key)
    while true {
      if let value = values[String(rest)] { return value }
      guard let dot = rest.firstIndex(of: "."), case .dictionary(let inner) = values[String(rest[..<dot])]
      else { return nil }
      values = inner
      rest = rest[rest.index(after: dot)...]
    }
  }
}
