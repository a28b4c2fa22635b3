internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Values that go in and come out.
  static let storing = [
    ConformanceRule(4, "true, 1 and 1.0 come back as what they are, before and after reopening") { fixture in
      let store = try fixture.makeStore()
      let values: [String: PreferenceValue] = ["bool": true, "integer": 1, "double": 1.0]
      try store.set(values)
      for reader in [store, try fixture.reopened(store)] {
        for (key, value) in values {
          #expect(try reader.value(forKey: key) == value, "\(key)")
        }
      }
    }
  ]
}
