/// Preferences from the elements of a collection, such as rows or cookies, read-only.
///
/// Of several elements with one key the first counts, whoever asks. The elements are read when this is created.
public struct CollectionPreferences: PreferencesReader {
  public let name: String
  private let values: [String: PreferenceValue]
  private let order: [String]

  /// - Parameters:
  ///   - key: the key of an element; nil leaves it out.
  ///   - value: its value; nil leaves it out.
  public init<Elements: Sequence>(
    _ elements: Elements, name: String = "collection", key: (Elements.Element) throws -> String?,
    value: (Elements.Element) throws -> PreferenceValue?
  ) rethrows {
    self.name = name
    var values: [String: PreferenceValue] = [:]
    var order: [String] = []
    for element in elements {
      guard let key = try key(element), PreferenceKeyName.isValid(key), values[key] == nil,
        let value = try value(element)
      else { continue }
      values[key] = value
      order.append(key)
    }
    (self.values, self.order) = (values, order)
  }

  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return values[key]
  }

  /// The keys in the order of the elements.
  public func keys() -> [String] { order }
}

extension CollectionPreferences: CustomStringConvertible, CustomReflectable {}
