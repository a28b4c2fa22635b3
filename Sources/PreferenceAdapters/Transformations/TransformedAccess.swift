public import Preferences

// Transformations on the spot, without a declared key.

extension PreferencesReader {
  /// What `transformation` makes of the value under `key`; nil when it is absent.
  ///
  /// - Throws: what the transformation throws, with what is stored untouched.
  public func value<Stored: PreferenceConvertible, Value>(
    forKey key: String, through transformation: some PreferenceReadTransformation<Stored, Value>
  ) throws -> Value? {
    try value(for: PreferenceKey<Stored?>(key).read(through: transformation))
  }

  /// What `transformation` makes of the value under `key`; nil when it is absent, and when reading fails, which
  /// `PreferenceFailures` receives.
  public subscript<Stored: PreferenceConvertible, Value>(
    key: String, transformation: some PreferenceReadTransformation<Stored, Value>
  ) -> Value? {
    do { return try value(forKey: key, through: transformation) } catch {
      PreferenceFailures.report(error, key: key, reader: name)
      return nil
    }
  }
}

extension PreferencesStore {
  /// Stores what `transformation` makes of `value` under `key`.
  ///
  /// - Throws: what the transformation throws, with the old value still there.
  @discardableResult
  public func set<Stored: PreferenceConvertible, Value>(
    _ value: Value, forKey key: String, through transformation: some PreferenceTransformation<Stored, Value>
  ) throws -> WriteOutcome {
    try set(value, for: PreferenceKey<Value?>(key, through: transformation))
  }

  /// What `transformation` makes of the value under `key`; setting nil removes it.
  ///
  /// `PreferenceFailures` receives when reading fails, which answers nil, and when writing fails,
  /// which leaves the old value there.
  public subscript<Stored: PreferenceConvertible, Value>(
    key: String, transformation: some PreferenceTransformation<Stored, Value>
  ) -> Value? {
    get {
      do { return try value(forKey: key, through: transformation) } catch {
        PreferenceFailures.report(error, key: key, reader: name)
        return nil
      }
    }
    nonmutating set {
      do { try set(newValue, for: PreferenceKey<Value?>(key, through: transformation)) } catch {
        PreferenceFailures.report(error, key: key, reader: name)
      }
    }
  }
}
