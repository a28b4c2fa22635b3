/// Stored element by element; one element that does not convert fails the whole array.
extension Array: PreferenceConvertible where Element: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .array }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .array(let values) = value else { throw .mismatch(expected: .array, found: value.kind) }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      do {
        elements.append(try Element(preferenceValue: value))
      } catch {
        throw error.about("element \(index)")
      }
    }
    self = elements
  }

  public var preferenceValue: PreferenceValue { .array(map(\.preferenceValue)) }
}

/// Stored entry by entry; one entry that does not convert fails the whole dictionary.
extension Dictionary: PreferenceConvertible where Key == String, Value: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .dictionary }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .dictionary(let values) = value else {
      throw .mismatch(expected: .dictionary, found: value.kind)
    }
    var entries: [String: Value] = [:]
    entries.reserveCapacity(values.count)
    for (key, value) in values {
      do {
        entries[key] = try Value(preferenceValue: value)
      } catch {
        throw error.about("entry \"\(key)\"")
      }
    }
    self = entries
  }

  public var preferenceValue: PreferenceValue { .dictionary(mapValues(\.preferenceValue)) }
}
