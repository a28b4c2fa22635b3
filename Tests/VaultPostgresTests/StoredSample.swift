#if PostgreSQL
  import Secrets
  import VaultCore
  import VaultPostgres

  /// A vault in the database, with the values that its owner has set.
  struct StoredSample {
    let key: SealingKey
    let storage: PostgresStorage
    let vault: Vault
    let secrets: SecretPreferences

    init(
      _ storage: PostgresStorage, key: SealingKey, vault: Vault
    ) throws {
      self.key = key
      self.storage = storage
      self.vault = vault
      secrets = try SecretPreferences(service: "com.example.test", in: vault)
    }

    /// Makes a vault.
    init(in storage: PostgresStorage, options: Vault.Options = Vault.Options()) throws {
      let key = try SealingKey(from: .system)
      let vault = try Vault.create(in: storage, slots: [NewSlot(.key(key))], options: options)
      try self.init(storage, key: key, vault: vault)
    }

    /// Another process's view of the vault.
    func opened(
      in storage: PostgresStorage? = nil, options: Vault.Options = Vault.Options()
    ) throws -> StoredSample {
      let storage = try storage ?? self.storage.reopened()
      let vault = try Vault.open(in: storage, credential: .key(key), options: options)
      return try StoredSample(storage, key: key, vault: vault)
    }
  }
#endif
