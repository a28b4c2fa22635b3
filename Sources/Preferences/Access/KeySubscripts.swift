// Sugar for reading and writing without `try`: nil, or the default, only where nothing is stored or the failure was told
// to `handleFailure`. Whoever must tell the two apart calls the throwing methods.

extension PreferencesReader {
  /// The value under `key`, whatever its kind; nil when absent. A failure is told to ``handleFailure(_:key:)`` and reads
  /// as nil.
  public subscript(key: String) -> PreferenceValue? {
    telling(key, or: nil) { try value(forKey: key) }
  }

  /// The value under the raw name of an enum's case; nil when absent, and as with a name.
  public subscript<Name: RawRepresentable<String>>(name: Name) -> PreferenceValue? { self[name.rawValue] }

  /// The value of a declared key. A failure is told to ``handleFailure(_:key:)`` and reads as the default.
  public subscript<Value>(key: PreferenceKey<Value>) -> Value {
    telling(key.name, or: key.defaultValue) { try value(for: key) }
  }

  /// What `body` returns; when it fails, `fallback`, after the failure is told.
  func telling<R>(_ key: String, or fallback: @autoclosure () -> R, _ body: () throws -> R) -> R {
    do { return try body() } catch {
      handleFailure(error, key: key)
      return fallback()
    }
  }
}

extension PreferencesStore {
  /// The value under `key`, whatever its kind; setting nil removes it. Failures are told to
  /// ``PreferencesReader/handleFailure(_:key:)``.
  public subscript(key: String) -> PreferenceValue? {
    get { telling(key, or: nil) { try value(forKey: key) } }
    nonmutating set {
      telling(key, or: ()) {
        if let newValue { try set(newValue, forKey: key) } else { try removeValue(forKey: key) }
      }
    }
  }

  /// The value under the raw name of an enum's case, as with a name.
  public subscript<Name: RawRepresentable<String>>(name: Name) -> PreferenceValue? {
    get { self[name.rawValue] }
    nonmutating set { self[name.rawValue] = newValue }
  }

  /// The value of a declared key; setting an optional one to nil removes it. Failures are told to
  /// ``PreferencesReader/handleFailure(_:key:)``.
  ///
  /// Changing it in place reads and then writes, so a change made between is lost; ``update(_:_:)`` loses none.
  public subscript<Value>(key: PreferenceKey<Value>) -> Value {
    get { telling(key.name, or: key.defaultValue) { try value(for: key) } }
    nonmutating set { telling(key.name, or: ()) { _ = try set(newValue, for: key) } }
  }
}
