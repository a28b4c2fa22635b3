public import Preferences
public import VaultCore

extension PreferenceKey {
  /// Creates a key of a secret: looked up in sealed layers only and written to sealed layers only. The key reads as
  /// `nil` while no value is set; setting `nil` removes the value. There is no default: a default in source code is not
  /// a secret.
  ///
  /// The value stays in guarded memory through composites and this package's views. Through a view of a different
  /// package the value is an ordinary value, which cannot be wiped.
  public init<Content: PreferenceConvertible>(_ name: String) where Value == Secret<Content>? {
    self.init(name, kind: Content.preferenceKind, decoding: Content.init(preferenceValue:))
  }

  /// Creates a key of a secret of any `Codable` type; otherwise as ``init(_:)-(String)``. See
  /// ``Secret/init(encoding:)``.
  public static func codable<Content: Codable & Sendable>(_ name: String) -> Self where Value == Secret<Content>? {
    Self(name, kind: PreferenceKey<Content?>.codable(name).kind, decoding: Secret<Content>.decoding)
  }

  private init<Content>(
    _ name: String, kind: PreferenceValue.Kind, decoding: @escaping Secret<Content>.Decoding
  ) where Value == Secret<Content>? {
    self.init(
      name, kind: kind, secrecy: .secret,
      guarding: GuardedConversion(
        decode: { guarded in
          try PreferencesError.converting {
            try Secret(try guarded as? GuardedContent ?? .copying(try guarded.value()), decoding)
          }
        },
        encode: { secret throws(PreferencesError) in secret?.content }),
      makeDefault: { nil },
      decode: { stored throws(PreferencesError) in
        try PreferencesError.converting { try Secret(try .copying(stored), decoding) }
      },
      encode: { secret throws(PreferencesError) in try PreferencesError.converting { try secret?.content.value() } })
  }
}

extension PreferencesReader {
  /// Returns the secret under `key` in a sealed layer, or `nil` if it is absent.
  ///
  /// - Throws: the errors of `value(for:)`.
  public func secret<Value: PreferenceConvertible>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Secret<Value>? { try value(for: PreferenceKey<Secret<Value>?>(key)) }

  /// Returns the secret of a `Codable` type under `key` in a sealed layer, or `nil` if it is absent.
  ///
  /// - Throws: the errors of `value(for:)`.
  public func secret<Value: Codable & Sendable>(
    forKey key: String, decoding type: Value.Type
  ) throws -> Secret<Value>? { try value(for: PreferenceKey<Secret<Value>?>.codable(key)) }
}

extension PreferencesStore {
  /// Seals `secret` under `key` in a sealed layer.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` if no layer is sealed, and the errors of `set(_:for:)`.
  @discardableResult
  public func set<Value>(_ secret: Secret<Value>, forKey key: String) throws -> WriteOutcome {
    try edit(try PreferenceEdits(key, to: secret))
  }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set<Value>(_ secret: Secret<Value>, forKey key: String) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: secret))
  }
}

extension PreferenceEdits {
  fileprivate init<Value>(_ key: String, to secret: Secret<Value>) throws(PreferencesError) {
    self.init([Edit(try PreferenceName(key), to: .guarded(secret.content), secrecy: .secret)])
  }
}

extension SecretPreferences {
  /// Returns the secret under `key`, or `nil` if it is absent. A string or data is copied into guarded memory and
  /// nowhere else; a value of a different type is also decoded once in ordinary memory.
  ///
  /// - Throws: ``VaultError/Code/typeMismatch`` if the stored value is not a `Value`, and the errors of
  ///   ``value(forKey:)``.
  public func secret<Value: PreferenceConvertible>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(VaultError) -> Secret<Value>? {
    guard let content = try guardedContent(forKey: key) else { return nil }
    do {
      return try Secret(content, Value.init(preferenceValue:))
    } catch let error as VaultError {
      throw error
    } catch {
      throw VaultError(.typeMismatch, (error as? PreferencesError)?.message ?? SecretCoding.mismatch.message)
    }
  }
}
