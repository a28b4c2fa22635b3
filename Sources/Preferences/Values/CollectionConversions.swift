/// A collection that is stored as an array. If one element does not convert, the whole collection fails.
protocol StoredAsArray: PreferenceConvertible, Sequence where Element: PreferenceConvertible {
  init(_ elements: [Element])
}

extension StoredAsArray {
  public static var preferenceKind: PreferenceValue.Kind { .array }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .array(let values) = value.unfolded else {
      throw PreferencesError(.typeMismatch, "expected array, found \(JSONText.name(of: value))")
    }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      do { elements.append(try Element(preferenceValue: value)) } catch { throw error.about("element \(index)") }
    }
    self.init(elements)
  }

  public var preferenceValue: PreferenceValue { .array(map(\.preferenceValue)) }
}

extension Array: PreferenceConvertible, StoredAsArray where Element: PreferenceConvertible {}
extension ContiguousArray: PreferenceConvertible, StoredAsArray where Element: PreferenceConvertible {}
extension ArraySlice: PreferenceConvertible, StoredAsArray where Element: PreferenceConvertible {}

/// The elements are stored in a fixed order, so that equal sets are equal values. Repeated elements are read as one.
extension Set: PreferenceConvertible, StoredAsArray where Element: PreferenceConvertible {
  public var preferenceValue: PreferenceValue {
    .array(map(\.preferenceValue).sorted { PreferenceValueOrder.compare($0, $1) == .less })
  }
}
