public import Preferences
public import VaultCore

extension ValueSealer {
  /// Creates a sealer whose sealing key is the record `key` of a service in a vault. Reads nothing.
  ///
  /// A new sealing key gets the accessibility of `preferences`.
  public init(key: String, in preferences: SecretPreferences) {
    self.init(
      key: key, service: preferences.serviceName, accessibility: preferences.accessibility, in: preferences.group,
      of: preferences.vault)
  }
}

extension PreferenceKey {
  /// Returns the same key, with its value sealed as text that any store can hold. Use it for single values among plain
  /// ones.
  ///
  /// ```swift
  /// let password = try PreferenceKey<Secret<String>?>("smtp.password").sealed(by: sealer, as: "settings")
  /// try settings.set(Secret("s3cret"), for: password)              // "spv-sealed-1:…" in the file
  /// ```
  ///
  /// The key is plain, also for a value of type ``Secret``: what the store gets is not a secret. A
  /// ``SealedPreferences`` of the same sealer and store name reads the same texts. Observers receive the changes of the
  /// value, and nothing when the same value is sealed again. Reading throws ``PreferencesError/Code/malformed`` for a
  /// value that is not sealed, and ``PreferencesError/Code/unavailable`` with the ``VaultError`` as its cause if it
  /// cannot be opened.
  /// - Parameter store: identifies the store among those with the same sealing key, and must stay the same.
  /// - Throws: ``VaultError/Code/invalidName`` for the name of the store.
  public func sealed(by sealer: ValueSealer, as store: String) throws(VaultError) -> PreferenceKey<Value> {
    let place = try StoreSealer(sealer, store: store)
    var key = PreferenceKey<Value>(
      name, kind: .string, makeDefault: { defaultValue },
      decode: { stored throws(PreferencesError) in
        let content: GuardedContent
        do throws(VaultError) { content = try place.open(stored, for: name) } catch {
          throw PreferencesError(StoreSealer.isSealed(stored) ? .unavailable : .malformed, error.message, cause: error)
        }
        return try PreferencesError.converting { try decoded(.guarded(content)) }
      },
      encode: { value throws(PreferencesError) in
        try PreferencesError.converting { try content(of: value).map { try place.seal($0, for: name) } }
      })
    key.comparison = { value throws(PreferencesError) in try compared(value) }
    return key
  }
}

extension PreferencesError {
  /// Runs `body`, and converts a ``VaultError`` that it throws.
  static func converting<R>(_ body: () throws -> R) throws(PreferencesError) -> R {
    do { return try body() } catch let error as PreferencesError { throw error } catch let error as VaultError {
      throw PreferencesError(
        error.code == .typeMismatch ? .typeMismatch : .unavailable, error.message, cause: error)
    } catch {
      // The text of another module's error may contain the secret.
      throw PreferencesError(.unavailable, "the secret cannot be opened")
    }
  }
}
