internal import DurableFiles
public import VaultCore
public import VaultSealing

/// A way to get the credential of a vault.
///
/// A way is *configured* if, for example, its variable is set or its file is named. Of several ways, only the first
/// configured one is used. If that way fails, the failure is an error, and no later way is tried
/// (`Docs/Format.md` section 6).
public struct Unlocking: Sendable {
  private let resolve: @Sendable () throws(VaultError) -> Vault.Credential?

  /// Creates a way of your own, for example from a key management service.
  ///
  /// ```swift
  /// let unlocking = Unlocking { () throws(VaultError) in .key(try keyFromService()) }
  /// ```
  ///
  /// If the service has only an `async` interface, get the key first:
  ///
  /// ```swift
  /// let vault = try await Vault.open(at: path, credential: .key(try await keyFromService()))
  /// ```
  ///
  /// - Parameter resolve: returns the credential, or `nil` if the way is not configured. Called for each opening, and
  ///   for each source of ``first(of:)`` in order. It must throw if the way is configured and fails: returning `nil`
  ///   makes ``first(of:)`` use a later way.
  public init(_ resolve: @escaping @Sendable () throws(VaultError) -> Vault.Credential?) { self.resolve = resolve }

  /// Returns the credential that this way currently provides, or `nil` if the way is not configured. The bytes that
  /// were read are wiped with the last copy of the credential.
  /// - Throws: the error of a configured way that fails.
  public func credential() throws(VaultError) -> Vault.Credential? { try resolve() }

  /// The asynchronous form of `credential()`. Cancelling the task does not stop it; the closure of ``init(_:)`` runs in
  /// the task, and can check it.
  public func credential() async throws(VaultError) -> Vault.Credential? {
    try await HelperPool.waiting.run(resolve)
  }

  /// Calls `ask` to get the passphrase, once for each opening.
  public static func passphrase(_ ask: @escaping @Sendable () throws(VaultError) -> SecretBytes) -> Unlocking {
    Unlocking { () throws(VaultError) in .passphrase(try ask()) }
  }

  /// Reads a passphrase from an inherited descriptor up to the end of the input. One trailing LF or CRLF is dropped.
  public static func passphraseDescriptor(_ descriptor: Int32) -> Unlocking {
    Unlocking { () throws(VaultError) in
      .passphrase(try CredentialReader.passphrase(from: descriptor, step: "the passphrase descriptor"))
    }
  }

  /// Reads a passphrase from the descriptor whose number is in an environment variable, as
  /// ``passphraseDescriptor(_:)``. Configured if the variable is set.
  /// - Throws: from ``credential()``, ``VaultError/Code/io`` if the variable does not hold the number of an open
  ///   descriptor.
  public static func passphraseDescriptor(fromVariable variable: String) -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let text = try Environment.text(variable) else { return nil }
      guard let descriptor = Int32(text), descriptor >= 0 else {
        throw VaultError(.io, "the variable \(variable) does not hold the number of a descriptor", errno: EBADF)
      }
      return try passphraseDescriptor(descriptor).credential()
    }
  }

  /// Reads a raw key from a file (`spv-key-1:…`). The file must be a regular file or FIFO owned by the current user or
  /// by root. Group and others must not be able to write it, and others must not be able to read it. Symbolic links are
  /// followed.
  ///
  /// Others may read a secret that Kubernetes or Docker mounts: a file owned by root on a read-only file system in
  /// memory (tmpfs), in a directory owned by root, and reached only through links within that directory.
  /// - Throws: from ``credential()``, ``VaultError/Code/insecurePermissions``, ``VaultError/Code/invalidKeyText`` and
  ///   ``VaultError/Code/io``. The message contains the file's path and never its content.
  public static func keyFile(_ path: String) -> Unlocking {
    Unlocking { () throws(VaultError) in .key(try CredentialReader.key(at: path)) }
  }

  /// Reads a raw key from a file, as ``keyFile(_:)``. Configured if the path names anything: only a missing file counts
  /// as absent, and a file that cannot be read is an error.
  public static func keyFile(ifPresent path: String) -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      // An empty path is a mistake and not a missing file.
      if !path.isEmpty, !(try CredentialReader.exists(path)) { return nil }
      return try keyFile(path).credential()
    }
  }

  /// Reads an identity from a file, under the rules of ``keyFile(_:)``, and trusts the vault that a pin names
  /// (`Docs/Format.md` annex G). The file has the identity in its first line and may have a pin in its second.
  ///
  /// ```swift
  /// let pin = try VaultPin("spv-vault-1:…")
  /// let vault = try Vault.open(at: path, unlocking: .identity("/etc/shop/shop.identity", trusting: pin))
  /// ```
  ///
  /// - Parameter pin: the pin of the vault, from the program or its configuration and never from the place where the
  ///   vault is stored. With `nil`, that in `SECRETPREFS_TRUST`, else that in the file.
  /// - Throws: from ``credential()``, the errors of ``keyFile(_:)``, and ``VaultError/Code/noCredential`` without a
  ///   pin.
  public static func identity(_ path: String, trusting pin: VaultPin? = nil) -> Unlocking {
    Unlocking { () throws(VaultError) in try IdentityFile(at: path).credential(trusting: pin) }
  }

  /// Reads the identity file named by an environment variable, as ``identity(_:trusting:)``. Configured if the variable
  /// is set.
  public static func identityVariable(
    _ variable: String = "SECRETPREFS_IDENTITY_FILE", trusting pin: VaultPin? = nil
  ) -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let path = try Environment.text(variable) else { return nil }
      return try identity(path, trusting: pin).credential()
    }
  }

  /// Uses the given raw key.
  public static func key(_ key: SealingKey) -> Unlocking {
    Unlocking { () throws(VaultError) in .key(key) }
  }

  /// Reads `NAME.key` or, if there is none, `NAME.identity` (``identity(_:trusting:)``), else `NAME.passphrase` in
  /// `$CREDENTIALS_DIRECTORY`, where systemd stores a service's credentials. Configured if one of the files exists.
  ///
  /// - Parameter pin: for an identity, as in ``identity(_:trusting:)``.
  public static func credentialsDirectory(
    name: String = "secret-preferences", trusting pin: VaultPin? = nil
  ) -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let directory = try Environment.credentialsDirectory else { return nil }
      func path(of credential: ServiceCredential) -> String { credential.path(in: directory, name: name) }
      let (key, identity) = (path(of: .key), path(of: .identity))
      if try CredentialReader.exists(key) { return .key(try CredentialReader.key(at: key)) }
      if try CredentialReader.exists(identity) { return try Self.identity(identity, trusting: pin).credential() }
      let passphrase = path(of: .passphrase)
      guard try CredentialReader.exists(passphrase) else { return nil }
      return .passphrase(try CredentialReader.passphrase(at: passphrase))
    }
  }

  /// Reads the key file named by an environment variable. Configured if the variable is set.
  public static func keyFileVariable(_ variable: String = "SECRETPREFS_KEY_FILE") -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let path = try Environment.text(variable) else { return nil }
      return .key(try CredentialReader.key(at: path))
    }
  }

  /// Takes the passphrase from an environment variable, then wipes and removes the variable. Configured if the variable
  /// is set.
  ///
  /// Every program of the same user can see an environment variable, so use this only if no better way is available.
  /// Changing the environment is not safe while other threads read it: unlock first.
  public static func passphraseVariable(_ variable: String = "SECRETPREFS_PASSPHRASE") -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      guard let passphrase = try Environment.take(variable) else { return nil }
      return .passphrase(passphrase)
    }
  }

  /// Uses the first of `ways` that is configured. A way that is configured and fails throws, and no later way is tried.
  ///
  /// | way | skipped if |
  /// | --- | --- |
  /// | ``credentialsDirectory(name:trusting:)`` | `$CREDENTIALS_DIRECTORY` is not set or empty, or has no such file |
  /// | ``keyFileVariable(_:)``, ``identityVariable(_:trusting:)`` | the variable is not set |
  /// | ``passphraseVariable(_:)``, ``passphraseDescriptor(fromVariable:)`` | the variable is not set |
  /// | ``keyFile(ifPresent:)`` | there is no such file |
  /// | ``init(_:)`` | the closure returns `nil` |
  /// | ``keyFile(_:)``, ``identity(_:trusting:)``, ``key(_:)`` | never |
  /// | ``passphrase(_:)``, ``passphraseDescriptor(_:)`` | never |
  public static func first(of ways: [Unlocking]) -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      for way in ways {
        if let credential = try way.credential() { return credential }
      }
      return nil
    }
  }

  /// For services: systemd's credentials directory, then `SECRETPREFS_KEY_FILE`, then `SECRETPREFS_IDENTITY_FILE`, then
  /// `SECRETPREFS_PASSPHRASE`. Never prompts, and there is no default key. A path in a variable that is not UTF-8 is an
  /// error.
  ///
  /// Whichever way is used, and also if it fails, `SECRETPREFS_PASSPHRASE` is wiped and removed, so that no child
  /// process inherits the variable. As with ``passphraseVariable(_:)``, unlock before other threads read the
  /// environment.
  public static let automatic = Unlocking { () throws(VaultError) -> Vault.Credential? in
    defer { Environment.remove("SECRETPREFS_PASSPHRASE") }
    let ways = [credentialsDirectory(), keyFileVariable(), identityVariable(), passphraseVariable()]
    return try first(of: ways).credential()
  }
}

extension Vault {
  /// Opens the vault at `path` with the credential that `unlocking` finds. Opening throws if no key is
  /// configured; later reads cannot fail for that reason.
  /// - Throws: ``VaultError/Code/noCredential`` if no way is configured; the error of the configured way; the errors of
  ///   ``Vault/open(at:credential:options:)``.
  public static func open(
    at path: String, unlocking: Unlocking, options: Options = Options()
  ) throws(VaultError) -> Vault {
    try open(at: path, credential: try unlocking.configuredCredential(), options: options)
  }

  /// Opens the vault in a storage with the credential that `unlocking` finds: like `open(at:unlocking:options:)`.
  public static func open(
    in storage: any VaultStorage, unlocking: Unlocking, options: Options = Options()
  ) throws(VaultError) -> Vault {
    try open(in: storage, credential: try unlocking.configuredCredential(), options: options)
  }

  /// The asynchronous form of `open(in:unlocking:options:)`. Cancelling the task does not stop it.
  public static func open(
    in storage: any VaultStorage, unlocking: Unlocking, options: Options = Options()
  ) async throws(VaultError) -> Vault {
    try await open(in: storage, credential: try await unlocking.configuredCredential(), options: options)
  }

  /// The asynchronous form of `open(at:unlocking:options:)`. Cancelling the task does not stop it.
  public static func open(
    at path: String, unlocking: Unlocking, options: Options = Options()
  ) async throws(VaultError) -> Vault {
    try await open(at: path, credential: try await unlocking.configuredCredential(), options: options)
  }

  /// Opens the same vault again with the credential that `unlocking` finds, as ``unlock(with:)``.
  ///
  /// ``Unlocking/automatic`` finds a passphrase in the environment only once, because it removes the variable. Key
  /// files and the credentials directory are read again.
  /// - Throws: ``VaultError/Code/noCredential`` if no way is configured; the error of the configured way; the errors of
  ///   ``unlock(with:)``.
  public func unlock(_ unlocking: Unlocking) throws(VaultError) {
    try unlock(with: try unlocking.configuredCredential())
  }

  /// The asynchronous form of `unlock(_:)`. Cancelling the task does not stop it.
  public func unlock(_ unlocking: Unlocking) async throws(VaultError) {
    try await unlock(with: try await unlocking.configuredCredential())
  }

  /// Opens an unlocked vault again with the credential that `unlocking` finds. If it is locked, or the program locks or
  /// unlocks it meanwhile, nothing changes. Restarts no limit.
  ///
  /// - Returns: whether the vault is unlocked with this credential.
  /// - Throws: as `unlock(_:)`.
  package func unlockAgain(_ unlocking: Unlocking) async throws(VaultError) -> Bool {
    try await unlockAgain { () async throws(VaultError) in try await unlocking.configuredCredential() }
  }
}

extension Unlocking {
  /// The credential of a way that is configured.
  /// - Throws: ``VaultError/Code/noCredential`` if it is not.
  package func configuredCredential() throws(VaultError) -> Vault.Credential { try configured(try credential()) }

  func configuredCredential() async throws(VaultError) -> Vault.Credential {
    try configured(try await credential())
  }

  private func configured(_ credential: Vault.Credential?) throws(VaultError) -> Vault.Credential {
    guard let credential else { throw VaultError(.noCredential, "no passphrase, key file or identity is configured") }
    return credential
  }
}
