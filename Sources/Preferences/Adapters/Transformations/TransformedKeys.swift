// Keys whose values are converted for storage.

extension PreferenceKey {
  /// Creates a key whose value is stored in the form that `transformation` returns.
  public init<Stored: PreferenceConvertible>(
    _ name: String, default defaultValue: Value, through transformation: some PreferenceTransformation<Stored, Value>
  ) {
    self.init(
      name, kind: Stored.preferenceKind, makeDefault: { defaultValue },
      through: ConvertibleTransformation<Stored>().then(transformation))
  }

  /// Creates a key that reads as `nil` while it is not set. Setting `nil` removes the value.
  public init<Stored: PreferenceConvertible, Wrapped>(
    _ name: String, through transformation: some PreferenceTransformation<Stored, Wrapped>
  ) where Value == Wrapped? {
    self.init(name, kind: Stored.preferenceKind, through: ConvertibleTransformation<Stored>().then(transformation))
  }

  /// The same key with its value converted by `transformation`. The value of a secret key passes through ordinary
  /// memory, which is not wiped.
  public func transformed<Other>(
    by transformation: some PreferenceTransformation<Value, Other>, default defaultValue: Other
  ) -> PreferenceKey<Other> {
    var key = PreferenceKey<Other>(
      name, kind: kind, secrecy: secrecy, makeDefault: { defaultValue },
      decode: { [decode] stored throws(PreferencesError) in try transformation.reading(decode(stored)) },
      encode: { [encode] value throws(PreferencesError) in try encode(transformation.writing(value)) })
    key.comparison = comparing { value throws(PreferencesError) in try transformation.writing(value) }
    return key
  }

  /// The same key with its value converted by `transformation`; `nil` stays `nil`. The value of a secret key passes
  /// through ordinary memory, which is not wiped.
  public func transformed<Wrapped, Other>(
    by transformation: some PreferenceTransformation<Wrapped, Other>
  ) -> PreferenceKey<Other?> where Value == Wrapped? {
    var key = PreferenceKey<Other?>(
      name, kind: kind, secrecy: secrecy, makeDefault: { nil },
      decode: { [decode] stored throws(PreferencesError) in
        guard let value = try decode(stored) else { return nil }
        return try transformation.reading(value)
      },
      encode: { [encode] value throws(PreferencesError) in
        guard let value else { return nil }
        return try encode(transformation.writing(value))
      })
    key.comparison = comparing { value throws(PreferencesError) in
      guard let value else { return nil }
      return try transformation.writing(value)
    }
    return key
  }

  /// The same key, which can also read values stored under this name in the form of `older`. Writes use the key's own
  /// form. The value of a secret key passes through ordinary memory, which is not wiped, in both directions: store
  /// secrets in their new form once, and then use the key alone.
  ///
  /// ```swift
  /// let theme = PreferenceKey("theme", default: Theme.light).alsoReading(.codable("theme", default: Theme.light))
  /// ```
  ///
  /// - Parameter older: only its decoding is used. If that fails as well, a read throws the error of the key's own
  ///   form.
  public func alsoReading(_ older: Self) -> Self {
    var key = Self(
      name, kind: kind, secrecy: secrecy, makeDefault: { [self] in defaultValue },
      decode: { [decode, otherwise = older.decode] stored throws(PreferencesError) in
        do throws(PreferencesError) { return try decode(stored) } catch let own {
          do throws(PreferencesError) { return try otherwise(stored) } catch { throw own }
        }
      }, encode: encode)
    key.comparison = comparison
    return key
  }

  init(
    _ name: String, kind: PreferenceValue.Kind, makeDefault: @escaping @Sendable () -> Value,
    through transformation: some PreferenceTransformation<PreferenceValue, Value>
  ) {
    self.init(
      name, kind: kind, makeDefault: makeDefault,
      decode: { stored throws(PreferencesError) in try transformation.reading(stored) },
      encode: { value throws(PreferencesError) in try transformation.writing(value) })
  }

  init<Wrapped>(
    _ name: String, kind: PreferenceValue.Kind,
    through transformation: some PreferenceTransformation<PreferenceValue, Wrapped>
  ) where Value == Wrapped? {
    self.init(
      name, kind: kind, makeDefault: { nil },
      decode: { stored throws(PreferencesError) in try transformation.reading(stored) },
      encode: { value throws(PreferencesError) in
        guard let value else { return nil }
        return try transformation.writing(value)
      })
  }
}
