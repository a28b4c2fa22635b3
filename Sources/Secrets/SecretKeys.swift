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
    self.init(
      name, kind: Content.preferenceKind, secrecy: .secret,
      guarding: GuardedConversion(
        decode: { guarded in try Self.converting { try Secret(guarded) } },
        encode: { secret throws(PreferencesError) in secret?.content }),
      makeDefault: { nil },
      decode: { stored throws(PreferencesError) in try Self.converting { try Secret(stored: stored) } },
      encode: { secret throws(PreferencesError) in try Self.converting { try secret?.content.value() } })
  }

  private static func converting<R>(_ body: () throws -> R) throws(PreferencesError) -> R {
    do { return try body() } catch let error as PreferencesError { throw error } catch let error as VaultError {
      throw PreferencesError(error.code == .typeMismatch ? .typeMismatch : .unavailable, error.message, cause: error)
    } catch { throw PreferencesError(.unavailable, "the secret cannot be opened", cause: error) }
  }
}

extension PreferencesReader {
  /// Returns the secret under `key` in a sealed layer, or `nil` if it is absent.
  ///
  /// - Throws: the errors of ``value(for:)``.
  public func secret<Value: PreferenceConvertible>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Secret<Value>? { try value(for: PreferenceKey<Secret<Value>?>(key)) }
}

extension PreferencesStore {
  /// Seals `secret` under `key` in a sealed layer.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` if no layer is sealed, and the errors of ``set(_:for:)``.
  @discardableResult
  public func set<Value: PreferenceConvertible>(
    _ secret: Secret<Value>, forKey key: String
  ) throws -> WriteOutcome { try set(secret, for: PreferenceKey<Secret<Value>?>(key)) }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set<Value: PreferenceConvertible>(
    _ secret: Secret<Value>, forKey key: String
  ) async throws -> WriteOutcome { try await set(secret, for: PreferenceKey<Secret<Value>?>(key)) }
}

extension SecretPreferences {
  /// Returns the secret under `key`, or `nil` if it is absent. The opened record is copied into guarded memory and
  /// nowhere else.
  ///
  /// - Throws: ``VaultError/Code/typeMismatch`` if the stored value is not a `Value`, and the errors of
  ///   ``value(forKey:)``.
  public func secret<Value: PreferenceConvertible>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(VaultError) -> Secret<Value>? {
    let opened = try vault.withValue(service: serviceName, key: key, in: group) { kind, body in
      Result { () throws(VaultError) in try Secret<Value>(kind, body) }
    }
    return try opened?.get()
  }
}
