public import Preferences
public import VaultCore

extension PreferenceKey {
  /// Creates a key of a secret: looked up in sealed layers only and written to sealed layers only. It reads as nil while
  /// it is not set, and is removed by setting nil. There is no default: a secret in a program's text is none.
  ///
  /// Through a composite or a view the value passes through a string or data that cannot be wiped;
  /// ``SecretPreferences`` itself fills guarded memory directly.
  public init<Content: PreferenceConvertible>(_ name: String) where Value == Secret<Content>? {
    self.init(
      name, kind: Content.preferenceKind, secrecy: .secret, makeDefault: { nil },
      decode: { stored throws(PreferencesError) in
        try Self.converting { () throws(VaultError) in try Secret(stored: stored) }
      },
      encode: { secret throws(PreferencesError) in
        guard let content = secret?.content else { return nil }
        return try Self.converting { () throws(VaultError) in try content.withBytes(SecretCoding.decode).get() }
      })
  }

  private static func converting<R>(_ body: () throws(VaultError) -> R) throws(PreferencesError) -> R {
    do throws(VaultError) { return try body() } catch {
      throw PreferencesError(error.code == .typeMismatch ? .typeMismatch : .unavailable, error.message, cause: error)
    }
  }
}

extension PreferencesReader {
  /// The secret under `key` in a sealed layer; nil when absent.
  ///
  /// - Throws: as ``value(for:)``.
  public func secret<Value: PreferenceConvertible>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Secret<Value>? { try value(for: PreferenceKey<Secret<Value>?>(key)) }
}

extension PreferencesStore {
  /// Seals `secret` under `key` in a sealed layer.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` when no layer here is sealed, and as ``set(_:for:)``.
  @discardableResult
  public func set<Value: PreferenceConvertible>(
    _ secret: Secret<Value>, forKey key: String
  ) throws -> WriteOutcome { try set(secret, for: PreferenceKey<Secret<Value>?>(key)) }
}

// From guarded memory to the vault and back, without a string or data between.
extension SecretPreferences {
  /// The secret under `key`, copied from the opened record into guarded memory and nowhere else; nil when absent.
  ///
  /// - Throws: ``VaultError/Code/typeMismatch`` when what is stored is no `Value`, and as ``value(forKey:)``.
  public func secret<Value: PreferenceConvertible>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(VaultError) -> Secret<Value>? {
    let opened = try vault.withValue(service: serviceName, key: key, in: group) { kind, body in
      Result { () throws(VaultError) in try Secret<Value>(kind, body) }
    }
    return try opened?.get()
  }

  /// The secret of a declared key, as ``secret(_:forKey:)``.
  public func value<Content: PreferenceConvertible>(
    for key: PreferenceKey<Secret<Content>?>
  ) throws(VaultError) -> Secret<Content>? { try secret(forKey: key.name) }

  /// Seals `secret` under `key`, replacing what was there. Durable when it returns.
  ///
  /// - Throws: as ``set(_:forKey:)-(PreferenceValue,_)``.
  @discardableResult
  public func set<Value: PreferenceConvertible>(
    _ secret: Secret<Value>, forKey key: String
  ) throws(VaultError) -> WriteOutcome {
    try vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      try batch.set(secret, forKey: key, accessibility: accessibility)
    }
    return .visible
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func set<Value: PreferenceConvertible>(
    _ secret: Secret<Value>, forKey key: String
  ) async throws(VaultError) -> WriteOutcome {
    try await vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      try batch.set(secret, forKey: key, accessibility: accessibility)
    }
    return .visible
  }

  /// Seals the secret of a declared key; nil removes it. Durable when it returns.
  ///
  /// - Throws: as ``set(_:forKey:)-(PreferenceValue,_)``.
  @discardableResult
  public func set<Content: PreferenceConvertible>(
    _ secret: Secret<Content>?, for key: PreferenceKey<Secret<Content>?>
  ) throws(VaultError) -> WriteOutcome {
    guard let secret else { return try removeValue(forKey: key.name) }
    return try set(secret, forKey: key.name)
  }
}

extension Vault.Batch {
  /// Seals a secret and adds it; as the form for bytes.
  public mutating func set<Value>(
    _ secret: Secret<Value>, forKey key: String, accessibility: Vault.Accessibility? = nil,
    ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try secret.content.withBytes { (kind, body) throws(VaultError) in
      try set(body, kind: kind, forKey: key, accessibility: accessibility, ifRevision: revision)
    }
  }
}
