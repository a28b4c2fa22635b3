/// Preferences from the elements of a collection, such as rows or cookies, read-only.
///
/// If several elements have the same key, the first is used. The elements are read only when the reader is created.
public struct CollectionPreferences: PreferencesReader {
  public let name: String
  private let values: [PreferenceName: PreferenceValue]
  private let order: [PreferenceName]

  /// - Parameters:
  ///   - key: returns the key of an element; `nil` skips the element.
  ///   - value: returns the value of an element; `nil` skips the element.
  public init<Elements: Sequence>(
    _ elements: Elements, name: String = "collection", key: (Elements.Element) throws -> String?,
    value: (Elements.Element) throws -> PreferenceValue?
  ) rethrows {
    self.name = name
    var values: [PreferenceName: PreferenceValue] = [:]
    var order: [PreferenceName] = []
    for element in elements {
      guard let key = try key(element), let name = PreferenceName.valid([key]).first, values[name] == nil,
        let value = try value(element)
      else { continue }
      values[name] = value
      order.append(name)
    }
    self.values = values
    self.order = order
  }

  public func value(for query: PreferenceQuery) -> PreferenceValue? { values[query.name] }

  /// The names in the order of the elements.
  public func names(of secrecy: Secrecy) -> [PreferenceName] { order }
}

extension CollectionPreferences: CustomStringConvertible, CustomReflectable {}
