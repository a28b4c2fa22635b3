public import VaultCore
public import VaultSealing

/// A way to get at the credential of a vault.
///
/// A way may be *configured* or not: a variable may be set, a file named. Of several, exactly the first that is
/// configured is used; when it fails, that is an error, and nothing falls through to the next
/// (`Docs/Format.md` section 6).
public struct Unlocking: Sendable {
  private let resolve: @Sendable () throws(VaultError) -> Vault.Credential?

  init(_ resolve: @escaping @Sendable () throws(VaultError) -> Vault.Credential?) { self.resolve = resolve }

  /// The credential that this way gives now; nil when the way is not configured. What was read is wiped with the last
  /// copy of the credential.
  /// - Throws: the error of a way that is configured and fails.
  public func credential() throws(VaultError) -> Vault.Credential? { try resolve() }

  /// Asks `ask` for the passphrase, once.
  public static func passphrase(_ ask: @escaping @Sendable () throws(VaultError) -> SecretBytes) -> Unlocking {
    Unlocking { () throws(VaultError) in .passphrase(try ask()) }
  }

  /// Reads a passphrase from an inherited descriptor to its end; one trailing LF or CRLF is dropped.
  public static func passphraseDescriptor(_ descriptor: Int32) -> Unlocking {
    Unlocking { () throws(VaultError) in
      .passphrase(try CredentialReader.passphrase(from: descriptor, step: "the passphrase descriptor"))
    }
  }

  /// Reads a raw key from a file (`spv-key-1:…`): a regular file or FIFO that belongs to us or to root, that group
  /// and others cannot write and others cannot read. Symbolic links are followed.
  ///
  /// Others may read a secret that Kubernetes or Docker mounts: a file of root's on a read-only file system in memory
  /// (tmpfs), in a directory of root's, to which links lead within that directory alone.
  /// - Throws: from ``credential()``, ``VaultError/Code/insecurePermissions``, ``VaultError/Code/invalidKeyText`` and
  ///   ``VaultError/Code/io``; the message names the file and never what is in it.
  public static func keyFile(_ path: String) -> Unlocking {
    Unlocking { () throws(VaultError) in .key(try CredentialReader.key(at: path)) }
  }

  /// Uses a raw key that the caller has.
  public static func key(_ key: SealingKey) -> Unlocking {
    Unlocking { () throws(VaultError) in .key(key) }
  }

  /// Reads `NAME.key` or, if there is none, `NAME.passphrase` in `$CREDENTIALS_DIRECTORY`, where systemd puts a
  /// service's credentials. Configured when one of the files is there.
  public static func credentialsDirectory(name: String = "secret-preferences") -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let directory = Environment.credentialsDirectory else { return nil }
      let path = directory + "/" + name
      if try CredentialReader.exists(path + ".key") { return .key(try CredentialReader.key(at: path + ".key")) }
      guard try CredentialReader.exists(path + ".passphrase") else { return nil }
      return .passphrase(try CredentialReader.passphrase(at: path + ".passphrase"))
    }
  }

  /// Reads the key file that an environment variable names. Configured when the variable is set.
  public static func keyFileVariable(_ variable: String = "SECRETPREFS_KEY_FILE") -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let path = Environment.value(variable) else { return nil }
      return .key(try CredentialReader.key(at: path))
    }
  }

  /// Takes the passphrase from an environment variable, which is wiped and removed. Every program of the same user
  /// can see a variable, so this is for where nothing better can be had. Configured when the variable is set.
  ///
  /// Changing the environment is not safe beside other threads that read it: unlock first.
  public static func passphraseVariable(_ variable: String = "SECRETPREFS_PASSPHRASE") -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let passphrase = try Environment.take(variable) else { return nil }
      return .passphrase(passphrase)
    }
  }

  /// The first of `ways` that is configured.
  public static func first(of ways: [Unlocking]) -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      for way in ways {
        if let credential = try way.credential() { return credential }
      }
      return nil
    }
  }

  /// For services: systemd's credentials directory, then `SECRETPREFS_KEY_FILE`, then `SECRETPREFS_PASSPHRASE`.
  /// Never prompts, and there is no default key.
  ///
  /// Whichever it is, and also when it fails, `SECRETPREFS_PASSPHRASE` is wiped and removed, so that no child process
  /// inherits it: as with ``passphraseVariable(_:)``, unlock before other threads read the environment.
  public static let automatic = Unlocking { () throws(VaultError) -> Vault.Credential? in
    defer { Environment.remove("SECRETPREFS_PASSPHRASE") }
    return try first(of: [credentialsDirectory(), keyFileVariable(), passphraseVariable()]).credential()
  }
}

extension Vault {
  /// Opens the vault at `path` with whatever `unlocking` finds. It fails here, or never for want of a key.
  /// - Throws: ``VaultError/Code/noCredential`` when no way is configured, the error of the way that is, and as
  ///   ``open(at:credential:options:)``.
  public static func open(
    at path: String, unlocking: Unlocking, options: Options = Options()
  ) throws(VaultError) -> Vault {
    guard let credential = try unlocking.credential() else {
      throw VaultError(.noCredential, "no passphrase and no key file is configured")
    }
    return try open(at: path, credential: credential, options: options)
  }
}
