// Transformations without a declared key.

extension PreferencesReader {
  /// The value under `key`, converted by `transformation`; `nil` if it is absent.
  ///
  /// - Throws: the error of the transformation. The stored value is intact.
  public func value<Stored: PreferenceConvertible, Value>(
    forKey key: String, through transformation: some PreferenceReadTransformation<Stored, Value>
  ) throws -> Value? {
    try value(for: PreferenceKey<Stored?>(key).read(through: transformation))
  }

  /// The value under `key`, converted by `transformation`; `nil` if it is absent. If reading fails, reports the error
  /// to `PreferenceFailures` and returns `nil`.
  public subscript<Stored: PreferenceConvertible, Value>(
    key: String, transformation: some PreferenceReadTransformation<Stored, Value>
  ) -> Value? { reported(key, transformation) }

  fileprivate func reported<Stored: PreferenceConvertible, Value>(
    _ key: String, _ transformation: some PreferenceReadTransformation<Stored, Value>
  ) -> Value? {
    do { return try value(forKey: key, through: transformation) } catch {
      PreferenceFailures.report(error, key: key, reader: name)
      return nil
    }
  }
}

extension PreferencesStore {
  /// Converts `value` with `transformation` and stores the result under `key`.
  ///
  /// - Throws: the error of the transformation, with the old value intact.
  @discardableResult
  public func set<Stored: PreferenceConvertible, Value>(
    _ value: Value, forKey key: String, through transformation: some PreferenceTransformation<Stored, Value>
  ) throws -> WriteOutcome {
    try set(value, for: PreferenceKey<Value?>(key, through: transformation))
  }

  /// The asynchronous form of `set(_:forKey:through:)`; does not block the calling thread.
  @discardableResult
  public func set<Stored: PreferenceConvertible, Value>(
    _ value: Value, forKey key: String, through transformation: some PreferenceTransformation<Stored, Value>
  ) async throws -> WriteOutcome {
    try await set(value, for: PreferenceKey<Value?>(key, through: transformation))
  }

  /// The value under `key`, converted by `transformation`; setting `nil` removes it.
  ///
  /// Errors are reported to `PreferenceFailures`, and so is a write that a layer above hides. If reading fails, returns
  /// `nil`, and a change in place writes nothing. If writing fails, the old value is intact.
  public subscript<Stored: PreferenceConvertible, Value>(
    key: String, transformation: some PreferenceTransformation<Stored, Value>
  ) -> Value? {
    get { reported(key, transformation) }
    @available(*, noasync, message: "a subscript may block: await set(_:forKey:through:)")
    nonmutating set {
      PreferenceFailures.writing(key, in: name) {
        try set(newValue, for: PreferenceKey<Value?>(key, through: transformation))
      }
    }
    nonmutating _modify {
      var change = ChangeInPlace<Value?>(of: key, in: name, or: nil) {
        try value(forKey: key, through: transformation)
      }
      defer { change.finish { self[key, transformation] = $0 } }
      yield &change.value
    }
  }
}
