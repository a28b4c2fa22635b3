extension DictionaryPreferences {
  /// Creates a store with values of any type, including arrays and dictionaries. Numbers of Foundation, such as those
  /// that `JSONSerialization` returns, are converted in a program that uses `PreferencesFoundation`.
  ///
  /// - Throws: `notStorable` for a value without a stored form, such as `NSNull`. The message contains its key, its
  ///   position inside the value and its type. `limitExceeded` for a value that is nested deeper than 128 levels.
  public convenience init(converting values: [String: Any], name: String = "dictionary") throws(PreferencesError) {
    var converted: [String: PreferenceValue] = [:]
    for (key, value) in values {
      do { converted[key] = try PreferenceValue(convertingWhole: value) } catch { throw error.about(key: key) }
    }
    self.init(converted, name: name)
  }
}

extension PreferenceValue {
  fileprivate init(convertingWhole value: Any) throws(PreferencesError) {
    try self.init(converting: value)
    guard !isTooDeep else { throw .tooDeep }
  }

  private init(converting value: Any) throws(PreferencesError) {
    switch value {
    case let value as any PreferenceConvertible: self = value.preferenceValue
    case let value as any StorableObject: self = value.storedValue
    case let elements as [Any]:
      var converted: [PreferenceValue] = []
      for (index, element) in elements.enumerated() {
        do { converted.append(try Self(converting: element)) } catch { throw error.about("element \(index)") }
      }
      self = .array(converted)
    case let entries as [String: Any]:
      var converted: [String: PreferenceValue] = [:]
      for (key, value) in entries {
        do { converted[key] = try Self(converting: value) } catch {
          throw error.about("entry \"\(key)\"", discreetly: "an entry")
        }
      }
      self = .dictionary(converted)
    default: throw PreferencesError(.notStorable, "\(type(of: value)) has no stored form")
    }
  }
}
