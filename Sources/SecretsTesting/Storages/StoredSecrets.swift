internal import Secrets
internal import VaultCore
internal import VaultSealing

/// A vault that a rule keeps in a storage, with the secrets of one service.
struct StoredSecrets {
  let storage: any VaultStorage
  let key: SealingKey
  let vault: Vault
  let secrets: SecretPreferences

  init(in storage: any VaultStorage, options: Vault.Options = Vault.Options()) async throws {
    let key = try SealingKey(from: .system)
    let vault = try await Vault.create(in: storage, slots: [NewSlot(.key(key))], options: options)
    try self.init(storage, key, vault)
  }

  private init(_ storage: any VaultStorage, _ key: SealingKey, _ vault: Vault) throws {
    self.storage = storage
    self.key = key
    self.vault = vault
    secrets = try SecretPreferences(service: "com.example.test", in: vault)
  }

  /// Another vault object for the same vault.
  func opened(in storage: any VaultStorage, options: Vault.Options = Vault.Options()) async throws -> StoredSecrets {
    try StoredSecrets(
      storage, key, try await Vault.open(in: storage, credential: .key(key), options: options))
  }
}
