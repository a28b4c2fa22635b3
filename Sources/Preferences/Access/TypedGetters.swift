public import FoundationEssentials

extension PreferencesReader {
  /// The string under `key`; `nil` if it is absent.
  public func string(forKey key: String) throws -> String? { try value(for: PreferenceKey(key)) }

  /// The data under `key`; `nil` if it is absent.
  public func data(forKey key: String) throws -> Data? { try value(for: PreferenceKey(key)) }

  /// The boolean under `key`; `nil` if it is absent.
  public func bool(forKey key: String) throws -> Bool? { try value(for: PreferenceKey(key)) }

  /// The integer under `key`, of either integer kind; `nil` if it is absent. Beyond `Int` it throws `outOfRange`.
  public func integer(forKey key: String) throws -> Int? { try value(for: PreferenceKey(key)) }

  /// The floating-point number under `key`; `nil` if it is absent.
  public func double(forKey key: String) throws -> Double? { try value(for: PreferenceKey(key)) }

  /// The date under `key`; `nil` if it is absent.
  public func date(forKey key: String) throws -> Date? { try value(for: PreferenceKey(key)) }

  /// The URL under `key`; `nil` if it is absent.
  public func url(forKey key: String) throws -> URL? { try value(for: PreferenceKey(key)) }

  /// The value under `key` as a `Value`; `nil` if it is absent.
  ///
  /// ```swift
  /// let hosts = try settings.value(forKey: "hosts", as: [String].self) ?? []
  /// ```
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` if the stored value is
  ///   not a `Value`, and any error of the reader.
  public func value<Value: PreferenceConvertible>(forKey key: String, as type: Value.Type) throws -> Value? {
    try value(for: PreferenceKey<Value?>(key))
  }

  /// The floating-point number under `key`, rounded to a float; `nil` if it is absent.
  public func float(forKey key: String) throws -> Float? { try value(forKey: key, as: Float.self) }

  /// The array under `key`; `nil` if it is absent.
  public func array(forKey key: String) throws -> [PreferenceValue]? {
    try value(forKey: key, as: [PreferenceValue].self)
  }

  /// The array of strings under `key`; `nil` if it is absent. A different kind of element throws `typeMismatch`.
  public func stringArray(forKey key: String) throws -> [String]? { try value(forKey: key, as: [String].self) }

  /// The dictionary under `key`; `nil` if it is absent. ``dictionary(revealingSecrets:)`` returns all values.
  public func dictionary(forKey key: String) throws -> [String: PreferenceValue]? {
    try value(forKey: key, as: [String: PreferenceValue].self)
  }

  /// Whether the value of a declared key equals its default, stored or not.
  public func isDefault<Value: Equatable>(_ key: PreferenceKey<Value>) throws -> Bool {
    try value(for: key) == key.defaultValue
  }
}
