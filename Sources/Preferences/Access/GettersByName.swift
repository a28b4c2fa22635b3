extension PreferencesReader {
  /// The value under `key` as a `Value`; nil when absent.
  ///
  /// ```swift
  /// let hosts = try settings.value(forKey: "hosts", as: [String].self) ?? []
  /// ```
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` when what is stored is no
  ///   `Value`, and whatever keeps the reader from knowing.
  public func value<Value: PreferenceConvertible>(forKey key: String, as type: Value.Type) throws -> Value? {
    try value(for: PreferenceKey<Value?>(key))
  }

  /// The floating-point number under `key`, rounded to a float; nil when absent.
  public func float(forKey key: String) throws -> Float? { try value(forKey: key, as: Float.self) }

  /// The array under `key`; nil when absent.
  public func array(forKey key: String) throws -> [PreferenceValue]? {
    try value(forKey: key, as: [PreferenceValue].self)
  }

  /// The array of strings under `key`; nil when absent. An element of another kind throws `typeMismatch`.
  public func stringArray(forKey key: String) throws -> [String]? { try value(forKey: key, as: [String].self) }

  /// The dictionary under `key`; nil when absent. All values of the reader are ``dictionary(revealingSecrets:)``.
  public func dictionary(forKey key: String) throws -> [String: PreferenceValue]? {
    try value(forKey: key, as: [String: PreferenceValue].self)
  }
}
