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
}
