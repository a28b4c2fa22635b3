#if Configuration
  public import Configuration
  public import Preferences
  public import Secrets
  internal import Synchronization
  public import VaultCore

  /// Secrets of a vault for swift-configuration.
  ///
  /// ```swift
  /// let secrets = try await VaultConfigProvider(service: "com.example.shop", claiming: .prefix("database."))
  /// let config = ConfigReader(providers: [secrets, EnvironmentVariablesProvider()])
  /// let password = try config.requiredString(forKey: "database.password")
  /// ```
  ///
  /// **Keys.** The key of the record is the components of the configuration key, joined by dots: `database.password`
  /// above. The context `service` selects one of the provider's other services; all other context is ignored. A service
  /// that the provider does not have is an error. So is a key whose name breaks the rule of `PreferenceName`, claimed
  /// or not.
  ///
  /// **Order.** List this provider first, with the names that it claims: then no variable that was left behind, and no
  /// file, takes the place of a secret, also while the vault is locked. Names that it does not claim are left to the
  /// later providers, and a failing vault does not concern them. A claimed name without a record is absent, and the
  /// later providers are asked; so store a secret before you start what reads it.
  ///
  /// **Failures.** Only a record that does not exist is absent. A locked or damaged vault, an expired record with
  /// ``ExpiryPolicy/refuse`` and a value of a different type throw. swift-configuration then looks in no later
  /// provider. `requiredString(forKey:)` and its siblings throw the error. `string(forKey:)` does not: it returns
  /// `nil`, or the default, as if the value were absent, and only an `AccessReporter` receives the error. Read secrets
  /// with the `required…` methods.
  ///
  /// **Types.** Values convert as with ``PreferenceKey``: an integer is an `int`, and a `double` if that is exact; data
  /// is `bytes`. Text, which is what `secretprefs set` stores, is parsed as numbers, Booleans and lists by the rule of
  /// `PreferenceValue.init(parsing:as:)`, and never as bytes.
  ///
  /// **Secrecy.** Every value is marked as secret, so neither descriptions nor access reporters print it. That protects
  /// printed text, not memory: the value is copied into ordinary memory and cannot be wiped. `SecretPreferences` lends
  /// the bytes instead.
  ///
  /// Each lookup sees the writes of other processes. `watch…` methods are notified of every write, as
  /// ``SecretPreferences/observe(_:)`` is. A snapshot has each service as it was at one moment, still
  /// sealed; `Vault.lock()` wipes it, except values of `afterFirstUnlock`.
  public struct VaultConfigProvider: Sendable {
    private let stores: [SecretPreferences]
    private let custody: Custody

    /// Creates a provider over open stores.
    ///
    /// - Parameters:
    ///   - secrets: the service that keys without the context `service` read.
    ///   - others: services that a key can select. The names of all services must differ.
    ///   - claim: the names that the provider has, in all its services; all others are absent, and the vault is not
    ///     asked.
    public init(
      _ secrets: SecretPreferences, _ others: SecretPreferences..., claiming claim: PreferenceClaim = .everything
    ) {
      stores = [secrets] + others
      custody = secrets.claiming(claim).custody
      precondition(Set(stores.map(\.service)).count == stores.count, "two stores have the same service")
    }

    /// Opens a vault and creates a provider over one of its services. Does not block a cooperative thread.
    ///
    /// - Parameters:
    ///   - path: the file; by default `Vault.defaultPath()`.
    ///   - claim: the names that the provider has.
    /// - Throws: ``VaultError`` if the vault cannot be opened or its access group cannot be read, already here and not
    ///   when the first value is read; ``VaultError/Code/noCredential`` if no way to unlock is configured.
    public init(
      service: String, accessGroup: String = AccessGroup.defaultName, at path: String? = nil,
      unlocking: Unlocking = .automatic, options: Vault.Options = Vault.Options(),
      claiming claim: PreferenceClaim = .everything
    ) async throws {
      let vault = try await Vault.open(at: try path ?? Vault.defaultPath(), unlocking: unlocking, options: options)
      let secrets = try SecretPreferences(service: service, accessGroup: accessGroup, in: vault)
      _ = try await secrets.reading { try $0.keys() }
      self.init(secrets, claiming: claim)
    }

    /// The record of a key; `nil` if its name is not claimed.
    private func record(of key: AbsoluteConfigKey) throws(PreferencesError) -> ConfigRecord? {
      try ConfigRecord(key, in: stores.map(\.service), claimedBy: custody)
    }

    /// Calls `body` with a sequence that has one element at once, and one after each wanted change. An element only
    /// says that values must be read again, so a slow reader misses no change.
    private func watching<Return: ~Copyable>(
      _ isWanted: @escaping @Sendable (PreferenceChange) -> Bool,
      _ body: (AsyncStream<Void>) async throws -> Return
    ) async throws -> Return {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      let observations = await stores[0].reading { [stores] _ in
        stores.map { store in store.observe { if isWanted($0) { continuation.yield() } } }
      }
      defer { for observation in observations { observation.invalidate() } }
      continuation.yield()
      return try await body(changes)
    }

    /// The result of a lookup, with a hash that differs if the stored value differs.
    private func reading(
      _ key: AbsoluteConfigKey, _ type: ConfigType
    ) async -> (fingerprint: Int, result: Result<LookupResult, any Error>) {
      do {
        guard let record = try record(of: key) else { return (0, .success(ConfigRecord.absent(key))) }
        let value = try await stores[record.service].reading { try $0.value(for: record.query) }
        return (value.map(PreferenceContent.value).fingerprint, .success(try record.result(value, type)))
      } catch { return (String(describing: error).hashValue, .failure(error)) }
    }
  }

  extension VaultConfigProvider: ConfigProvider {
    /// `VaultConfigProvider[vault SERVICE/GROUP]`.
    public var providerName: String { "VaultConfigProvider[\(stores.map(\.name).joined(separator: ", "))]" }

    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      guard let record = try record(of: key) else { return ConfigRecord.absent(key) }
      return try record.result(try stores[record.service].value(for: record.query), type)
    }

    /// As ``value(forKey:type:)``, which reads the file each time, but on a helper thread: if reads are logged, a read
    /// waits for the lock of the log, and here it blocks no cooperative thread.
    public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
      guard let record = try record(of: key) else { return ConfigRecord.absent(key) }
      return try record.result(try await stores[record.service].reading { try $0.value(for: record.query) }, type)
    }

    public func watchValue<Return: ~Copyable>(
      forKey key: AbsoluteConfigKey, type: ConfigType,
      updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
    ) async throws -> Return {
      let (name, last) = (ConfigRecord.name(of: key), LastFingerprint())
      return try await watching {
        $0.concerns(name)
      } _: { changes in
        try await updatesHandler(
          ConfigUpdatesAsyncSequence(
            changes.compactMap {
              let (fingerprint, result) = await reading(key, type)
              return last.replace(with: fingerprint) == fingerprint ? nil : result
            }))
      }
    }

    /// If a service cannot be read, each of the snapshot's lookups in it throws the error.
    public func snapshot() -> any ConfigSnapshot {
      Snapshot(
        providerName: providerName, custody: custody,
        services: stores.map { store in
          (store.service, Result { () throws(VaultError) in try store.snapshot() })
        })
    }

    public func watchSnapshot<Return: ~Copyable>(
      updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
      try await watching { _ in
        true
      } _: { changes in
        try await updatesHandler(
          ConfigUpdatesAsyncSequence(changes.map { await stores[0].reading { _ in snapshot() } }))
      }
    }
  }

  extension VaultConfigProvider: CustomStringConvertible, CustomReflectable {
    /// The provider's name. No key and no value.
    public var description: String { providerName }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
  }

  extension VaultConfigProvider {
    private struct Snapshot: ConfigSnapshot, CustomStringConvertible, CustomReflectable {
      let providerName: String
      let custody: Custody
      let services: [(name: String, secrets: Result<SecretSnapshot, VaultError>)]

      func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        guard let record = try ConfigRecord(key, in: services.map(\.name), claimedBy: custody) else {
          return ConfigRecord.absent(key)
        }
        return try record.result(try services[record.service].secrets.get().value(for: record.query), type)
      }

      var description: String { providerName }
      var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
    }

    /// The hash of the last element of a sequence.
    private final class LastFingerprint: Sendable {
      private let fingerprint = Mutex<Int?>(nil)

      func replace(with new: Int) -> Int? {
        fingerprint.withLock { fingerprint in
          defer { fingerprint = new }
          return fingerprint
        }
      }
    }
  }
#endif
