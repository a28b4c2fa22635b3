// Reading and writing without `try`. A failed read is reported to `PreferenceFailures` and returns nil or the default.
// A change in place, such as `+=`, writes nothing after a failed read.
// A failed write and a write that a higher layer hides are reported, too.

extension PreferencesReader {
  /// The value under `key`, of any kind; `nil` if absent, or after an error, which ``PreferenceFailures`` receives.
  public subscript(key: String) -> PreferenceValue? {
    reporting(key, or: nil) { try value(forKey: key) }
  }

  /// The value under `key` as the type that the context requires; `nil` if it is absent. An error, such as a value of a
  /// different type, is reported to ``PreferenceFailures`` and returns `nil`.
  public subscript<Value: PreferenceConvertible>(key: String) -> Value? {
    reporting(key, or: nil) { try value(forKey: key, as: Value.self) }
  }

  /// The value of a declared key. An error is reported to ``PreferenceFailures`` and returns the default.
  public subscript<Value>(key: PreferenceKey<Value>) -> Value {
    reporting(key.name, or: key.defaultValue) { try value(for: key) }
  }

  /// Returns the result of `body`. If it throws, reports the error and returns `fallback`.
  func reporting<R>(_ key: String, or fallback: @autoclosure () -> R, _ body: () throws -> R) -> R {
    do { return try body() } catch {
      PreferenceFailures.report(error, key: key, reader: name)
      return fallback()
    }
  }
}

extension PreferencesStore {
  /// The value under `key`, of any kind; setting `nil` removes it. Errors are reported to ``PreferenceFailures``. A
  /// change in place of a value that cannot be read writes nothing.
  ///
  /// A write that a layer above hides is done and reported as ``PreferencesError/Code/shadowed``.
  public subscript(key: String) -> PreferenceValue? {
    get { reporting(key, or: nil) { try value(forKey: key) } }
    @available(*, noasync, message: "a subscript may block: await a method such as set(_:forKey:)")
    nonmutating set { PreferenceFailures.writing(key, in: name) { try edit(try PreferenceEdits(key, to: newValue)) } }
    nonmutating _modify {
      var change = ChangeInPlace(of: key, in: name, or: nil) { try value(forKey: key) }
      defer { change.finish { self[key] = $0 } }
      yield &change.value
    }
  }

  /// The value under `key` as the type that the context requires; setting `nil` removes it.
  ///
  /// ```swift
  /// settings["motd"] = text                        // a String or a String?
  /// if settings["motd"] == text { … }
  /// let port: Int? = settings["port"]
  /// ```
  ///
  /// Errors, such as reading a value of a different type, are reported to ``PreferenceFailures``. A change in place,
  /// such as `settings["motd"]? += "!"`, writes nothing if the value cannot be read. A write that a layer above hides
  /// is done and reported as ``PreferencesError/Code/shadowed``.
  public subscript<Value: PreferenceConvertible>(key: String) -> Value? {
    get { reporting(key, or: nil) { try value(forKey: key, as: Value.self) } }
    @available(*, noasync, message: "a subscript may block: await a method such as set(_:forKey:)")
    nonmutating set {
      PreferenceFailures.writing(key, in: name) { try edit(try PreferenceEdits(key, to: newValue?.preferenceValue)) }
    }
    nonmutating _modify {
      var change = ChangeInPlace(of: key, in: name, or: nil) { try value(forKey: key, as: Value.self) }
      defer { change.finish { self[key] = $0 } }
      yield &change.value
    }
  }

  /// The value of a declared key; setting an optional key to `nil` removes it. Errors are reported to
  /// ``PreferenceFailures``, and so is a write that a layer above hides, as ``PreferencesError/Code/shadowed``.
  ///
  /// A change in place, such as `settings[.port] += 1`, writes nothing if the value cannot be read. It reads and then
  /// writes, so it can overwrite a concurrent change; `update(_:_:)` cannot.
  public subscript<Value>(key: PreferenceKey<Value>) -> Value {
    get { reporting(key.name, or: key.defaultValue) { try value(for: key) } }
    @available(*, noasync, message: "a subscript may block: await a method such as set(_:forKey:)")
    nonmutating set { PreferenceFailures.writing(key.name, in: name) { try set(newValue, for: key) } }
    nonmutating _modify {
      var change = ChangeInPlace(of: key.name, in: name, or: key.defaultValue) { try value(for: key) }
      defer { change.finish { self[key] = $0 } }
      yield &change.value
    }
  }
}
