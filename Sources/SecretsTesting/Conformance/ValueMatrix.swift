internal import Preferences
internal import Testing

/// Values in every shape that the type of a key can have, each under a key of its own.
struct ValueMatrix {
  private var edits = PreferenceEdits()
  private var readings: [(any PreferencesReader) throws -> Void] = []

  /// Adds two values, alone and in every collection.
  mutating func add<Value: PreferenceConvertible & Hashable>(_ a: Value, _ b: Value) throws {
    try put(a, nextKey { PreferenceKey($0, default: b) })
    try put(b, nextKey { PreferenceKey($0) })
    try put([a, b, a], nextKey { PreferenceKey($0) })
    try put([[a], [], [b, a]], nextKey { PreferenceKey($0) })
    try put([a, b], nextKey { PreferenceKey<Set<Value>?>($0) })
    try put(["one": a, "two.three": b], nextKey { PreferenceKey($0) })
    try put([1: a, -2: b], nextKey { PreferenceKey($0) })
    try put(["one": [a, b], "none": []], nextKey { PreferenceKey($0) })
  }

  /// Adds two values by their coding, alone and in every collection.
  mutating func addCoded<Value: Codable & Hashable & Sendable>(_ a: Value, _ b: Value) throws {
    try put(a, nextKey { .codable($0, default: b) })
    try put(b, nextKey { .codable($0) })
    try put([a, b, a], nextKey { .codable($0) })
    try put([[a], [], [b, a]], nextKey { .codable($0) })
    try put([a, b], nextKey { PreferenceKey<Set<Value>?>.codable($0) })
    try put(["one": a, "two.three": b], nextKey { .codable($0) })
    try put([1: a, -2: b], nextKey { .codable($0) })
    try put(["one": [a, b], "none": []], nextKey { .codable($0) })
  }

  /// Adds a value of its own shape.
  mutating func add<Value: PreferenceConvertible & Hashable>(_ value: Value) throws {
    try put(value, nextKey { PreferenceKey($0) })
  }

  /// Writes all values to `store` in one step.
  func write(to store: any PreferencesStore) throws { try store.edit(edits) }

  /// Expects that `reader` has all values.
  func check(_ reader: any PreferencesReader) throws {
    for reading in readings { try reading(reader) }
  }

  private func nextKey<Value>(_ make: (String) -> PreferenceKey<Value>) -> PreferenceKey<Value> {
    make("value \(readings.count)")
  }

  private mutating func put<Value: Equatable>(_ value: Value, _ key: PreferenceKey<Value>) throws {
    try edits.set(value, for: key)
    readings.append { (reader) throws in
      #expect(try reader.storedValue(for: key) == value, "\(Value.self)")
      #expect(try reader.value(forKey: key.name)?.kind == key.kind, "\(Value.self)")
    }
  }
}
