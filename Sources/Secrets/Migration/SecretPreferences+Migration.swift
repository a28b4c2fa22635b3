public import Preferences

extension SecretPreferences {
  /// Changes a value on its way into the vault. The closure receives the name in the source, and the value in ordinary
  /// memory.
  public typealias MigrationTransform = @Sendable (_ name: String, _ value: PreferenceValue) throws -> PreferenceValue

  /// Moves secrets from a file of settings or from a different vault into this store.
  ///
  /// ```swift
  /// try tokens.move(["GITHUB_TOKEN": "github"], from: DotenvPreferences(at: ".env"))
  /// ```
  ///
  /// All values are sealed in one transaction. Then the vault's file is loaded again, and each value is opened and
  /// compared in constant time. Only then are the names removed from the source, in one transaction that removes a
  /// value only if it is still the one that was copied. If the process ends in between, nothing is lost, and the next
  /// call finishes. A call that has nothing left to do changes nothing.
  ///
  /// From a different vault, each secret keeps its expiry, label, comment and attributes, and its accessibility class
  /// unless this store has one; times, revision and history are not kept. Without `transform` the values stay in
  /// guarded memory. A secret that is ``SecretMigration/present`` keeps the metadata it has here.
  ///
  /// The old values can remain in free blocks of the disk, in backups, snapshots and editors' copies, in comments of a
  /// dotenv file, and in a vault until ``Vault/compact()``, or longer if its preferences keep removed values. If others
  /// can read those, replace the secrets.
  ///
  /// - Parameters:
  ///   - names: the names in the source, each with its key in this store.
  ///   - source: the store that loses the values. If it saves explicitly, they are removed by its next save. A sealed
  ///     source is a ``SecretPreferences`` itself, not a view of one.
  ///   - policy: what happens if the vault has a different value under a key.
  ///   - transform: makes the value for the vault; it must return the same value if it is called again.
  /// - Throws: ``VaultError/Code/conflict`` if the vault has a different value, if two names have the same key, or if a
  ///   name in the same service is also a key; `notErased` if the values are sealed and verified, but not all removed
  ///   from the source; what `transform`, the source and ``transaction(_:)`` throw. In every case, the source still has
  ///   each value that is not in the vault.
  @discardableResult
  public func move(
    _ names: [String: String], from source: some PreferencesStore,
    onConflict policy: SecretMigration.ConflictPolicy = .refuse, transform: MigrationTransform? = nil
  ) throws -> SecretMigration {
    let mover = SecretMover(names: names, target: self, policy: policy, transform: transform)
    try mover.checkCanErase(source)
    let (migration, copied) = try mover.copy(from: source)
    try mover.erase(copied, from: source)
    return migration
  }

  /// The asynchronous form of `move(_:from:onConflict:transform:)`; works on a separate thread.
  @discardableResult
  public func move(
    _ names: [String: String], from source: some PreferencesStore,
    onConflict policy: SecretMigration.ConflictPolicy = .refuse, transform: MigrationTransform? = nil
  ) async throws -> SecretMigration {
    try await BlockingWork.run { try move(names, from: source, onConflict: policy, transform: transform) }
  }

  /// Copies secrets into this store from a reader that cannot be erased, such as the environment.
  ///
  /// ```swift
  /// try tokens.copy(["GITHUB_TOKEN": "github"], from: EnvironmentPreferences())
  /// ```
  ///
  /// Copies and verifies as `move(_:from:onConflict:transform:)`. The source stays as it is. For the environment,
  /// remove the variables where they are set, such as the unit file, and restart the process: until then they are in
  /// `/proc/PID/environ`, and child processes inherit them.
  @discardableResult
  public func copy(
    _ names: [String: String], from source: some PreferencesReader,
    onConflict policy: SecretMigration.ConflictPolicy = .refuse, transform: MigrationTransform? = nil
  ) throws -> SecretMigration {
    try SecretMover(names: names, target: self, policy: policy, transform: transform).copy(from: source).migration
  }

  /// The asynchronous form of `copy(_:from:onConflict:transform:)`; works on a separate thread.
  @discardableResult
  public func copy(
    _ names: [String: String], from source: some PreferencesReader,
    onConflict policy: SecretMigration.ConflictPolicy = .refuse, transform: MigrationTransform? = nil
  ) async throws -> SecretMigration {
    try await BlockingWork.run { try copy(names, from: source, onConflict: policy, transform: transform) }
  }
}

extension PreferencesError.Code {
  /// Secrets were copied into a vault and verified, but the source still has some of them. Moving them again finishes.
  public static let notErased = Self(rawValue: "notErased")
}
