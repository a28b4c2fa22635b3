internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// Where a vault is, how to unlock it and how to treat it, from the options of a command.
struct VaultAccess {
  /// In seconds.
  static let usualLockTimeout = 30.0

  var location: VaultLocation
  var keyFile: String?
  /// The identity file, if an option names one.
  var identity: String?
  /// The pin for an identity, if an option gives one.
  var trust: VaultPin?
  var passphraseDescriptor: Int32?
  var passphraseCommand: PassphraseCommand?
  var mayPrompt = true
  var lockTimeout = Duration.seconds(usualLockTimeout)
  /// Whether reading an expired record fails.
  var refusesExpired = false
  /// The accepted owners, modes and links of the vault's path.
  var pathPolicy = PathPolicy.strict
  /// What writes keep of earlier values and removed records.
  var keeping = Vault.Keeping.forPeople
  /// The file of the vault's rollback mark, if there is one.
  var markPath: String?
  /// The device key file, if an option names one.
  var deviceKeyFile: String?
  /// Shows the progress of long operations.
  var progress: ProgressLine?
  /// What the command does with the key that `unlock` keeps.
  var keptKeyUse = KeptKey.Use.open
  /// Distinguishes the two files of a command in prompts and errors. `nil` if the command has only one.
  var role: VaultRole?

  /// Uses the mark and the policy that the environment names, and the number of earlier values that it or the
  /// configuration has. All other settings have their defaults.
  init(_ location: VaultLocation, in files: Configuration.Files = .all) throws(ToolError) {
    self.location = location
    if let shared = try VaultLocation.variable("SECRETPREFS_SHARED") {
      guard shared == "1" else {
        throw .usage("the variable SECRETPREFS_SHARED is not 1", hint: "unset it, or set it to 1")
      }
      pathPolicy = .sharedWithGroup
    }
    markPath = try VaultLocation.variable("SECRETPREFS_MARK")
    if let number = try Configuration.value(of: .history, in: files).flatMap({ UInt16($0) }) {
      keeping.earlierValues = number
    }
  }

  /// Opens the vault with the first configured credential (`Docs/Format.md` section 6), or prompts for the passphrase.
  func open(_ messages: Messages) throws -> Vault { try openKeepingCredential(messages).vault }

  /// Opens the vault like ``open(_:)`` and also returns the credential, for commands that open several files with it.
  func openKeepingCredential(_ messages: Messages) throws -> (vault: Vault, credential: Vault.Credential) {
    do throws(VaultError) {
      let options = try unlockedOptions(messages)
      let opened = try withCredential(messages) { (credential) throws(VaultError) in
        (try Vault.open(in: location.storage(options), credential: credential, options: options), credential)
      }
      if let torn = try opened.0.tornTail { messages.warn(torn.warning(location.path, role)) }
      if try opened.0.isFrozen { messages.warn(FrozenVault.warning(role)) }
      try completeRotation(of: opened.0, opened.1, messages)
      return opened
    } catch { throw explained(error) }
  }

  /// Opens the vault like ``open(_:)``, but never prompts, and says nothing of a broken end of the journal. Returns
  /// `nil` if no credential is configured.
  func openIfConfigured(_ messages: Messages) throws -> (vault: Vault, source: CredentialSource)? {
    do throws(VaultError) {
      return try withConfigured(messages) { (credential, source) throws(VaultError) in
        let options = try unlockedOptions(messages)
        return (try Vault.open(in: location.storage(options), credential: credential, options: options), source)
      }
    } catch { throw explained(error) }
  }

  /// The options that name this vault to another command, each after a blank. Empty for what is used without them.
  var namingOptions: String {
    let isSharedByOption = pathPolicy == .sharedWithGroup && getenv("SECRETPREFS_SHARED") == nil
    return location.option + (isSharedByOption ? " --shared" : "")
  }

  /// What can be read of the vault without a credential.
  func info() throws(VaultError) -> VaultInfo { try VaultInfo(in: location.storage(options), options: options) }

  /// For commands that make a credential that lasts: who finds an unlocked terminal must not get one.
  var withoutKeptKey: VaultAccess {
    var access = self
    access.keptKeyUse = .ignore
    return access
  }

  /// The key that `unlock` keeps for the vault.
  func keptKey() throws(VaultError) -> KeptKey? { try KeptKey.find(location, for: keptKeyUse) }

  /// Calls `body` with the configured credential. Without one, prompts for a passphrase, and again if it is rejected.
  ///
  /// - Parameters:
  ///   - inspectsFile: Whether to read the file before the first prompt, so that a file that is missing, broken or
  ///     without a passphrase slot fails at once.
  ///   - body: Runs once for each passphrase that is entered.
  func withCredential<Result>(
    _ messages: Messages, inspectsFile: Bool = true, _ body: (Vault.Credential) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    if let result = try withConfigured(messages, { (credential, _) throws(VaultError) in try body(credential) }) {
      return result
    }
    var rejected = 0
    while true {
      let credential = Vault.Credential.passphrase(try ask(inspectsFile: inspectsFile, rejected: rejected))
      do throws(VaultError) { return try body(credential) } catch {
        rejected += 1
        guard error.code == .credentialRejected, rejected < Prompt.tries else { throw error }
      }
    }
  }

  /// The options that every command opens a vault with.
  var options: Vault.Options {
    var options = Vault.Options()
    options.lockTimeout = lockTimeout
    options.pathPolicy = pathPolicy
    options.markPath = markPath
    // The library's lower default protects a server's memory. A user who stores a large file does it on purpose.
    options.limits.writtenValueBytes = ValueReader.longest
    // A person makes mistakes, and other programs make them through the credential helpers.
    options.keeping = keeping
    if refusesExpired { options.expiredRecords = .refuse }
    if let progress { options.progress = { progress.show($0.done, of: $0.total) } }
    return options
  }

  /// ``options`` with the device key, if one is configured, and warnings for what could not be logged, and for a mark
  /// that could not be raised.
  func unlockedOptions(_ messages: Messages) throws(VaultError) -> Vault.Options {
    var options = options
    options.auditFailure = { messages.warn("what was read or written could not be logged (\(displayed($0.message)))") }
    options.markFailure = { messages.warn("the mark could not be raised (\(displayed($0.message)))") }
    options.deviceKey = try deviceKey()
    return options
  }

  /// Adds which file an error is about, and what a user can do about it: the vault or the bundle, or the mark.
  func explained(_ error: VaultError, salvages: Bool = true) -> any Error {
    if let usage = error.cause as? ToolError { return usage }
    if error.code == .malformed, role == nil, let markPath {
      do { _ = try RollbackMark.read(at: markPath) } catch let broken as ToolError { return broken } catch {}
    }
    let cured = cured(error, salvages: salvages)
    return role.map { $0.explained(cured, at: location) } ?? cured
  }

  /// Adds the path of the vault to an error about its bytes, and what a user can do about the state of its files.
  ///
  /// - Parameter salvages: Whether `salvage` may help. It is false if it has failed.
  func cured(_ error: VaultError, salvages: Bool = true) -> VaultError {
    // What a database says of itself is not about bytes.
    guard !DatabaseHints.isAbout(error) else { return error }
    let hint =
      error.code == .insecurePermissions
      ? UnsafeFile(error, self)?.hint : UnreadableVault(location, error)?.hint(salvages: salvages)
    guard let hint else { return error }
    let message = error.code == .insecurePermissions ? error.message : error.message(about: location.name)
    return VaultError(error.code, message, errno: error.errno, cause: Cure(hint: hint))
  }

  /// Calls `body` with the configured credential. Returns `nil` if there is none.
  private func withConfigured<Result>(
    _ messages: Messages, _ body: (Vault.Credential, CredentialSource) throws(VaultError) -> Result
  ) throws(VaultError) -> Result? {
    let variable = "SECRETPREFS_PASSPHRASE"
    let isNamed = keyFile != nil || identity != nil || passphraseDescriptor != nil || passphraseCommand != nil
    let usesEnvironment = !isNamed && role != .bundle
    if usesEnvironment, getenv(variable) != nil {
      messages.warn("\(variable) is visible to other processes of the same user; a key file is safer")
    }
    // Also if a different source is used. A bundle is opened before the vault that the variable may be for.
    defer { if role != .bundle { Environment.remove(variable) } }
    for (source, way) in sources {
      guard let credential = try way.credential() else { continue }
      guard trust == nil || credential.holder != nil else { throw .usage(CredentialOptions.unusedPin) }
      do throws(VaultError) { return try body(credential, source) } catch {
        if case .keptKey = source { throw KeptKey.explained(error) }
        throw credential.holder == nil ? error : IdentityRejection.explained(error)
      }
    }
    if trust != nil { throw .usage(CredentialOptions.unusedPin) }
    return nil
  }

  /// The way that the variable of a file names. The library takes an empty path for one that cannot be read.
  private static func way(of variable: String, _ way: Unlocking) -> Unlocking {
    Unlocking { () throws(VaultError) -> Vault.Credential? in
      try refuseEmpty(variable)
      return try way.credential()
    }
  }

  private static func refuseEmpty(_ variable: String) throws(VaultError) {
    do throws(ToolError) { _ = try VaultLocation.variable(variable) } catch { throw .usage(error) }
  }

  private func deviceKey() throws(VaultError) -> SealingKey? {
    if let deviceKeyFile { return try DeviceKey.file(deviceKeyFile) }
    try Self.refuseEmpty("SECRETPREFS_DEVICE_KEY_FILE")
    return try DeviceKey.automatic()
  }

  /// The sources before the prompt, in their order (`Docs/Format.md` section 6). The first that is configured is used.
  private var sources: [(CredentialSource, Unlocking)] {
    if let passphraseDescriptor { return [(.passphraseDescriptor, .passphraseDescriptor(passphraseDescriptor))] }
    if let keyFile { return [(.keyFile, .keyFile(keyFile))] }
    if let identity { return [(.identity, .identity(identity, trusting: trust))] }
    if let command = passphraseCommand {
      return [(.passphraseCommand, Unlocking { () throws(VaultError) in try command.read() })]
    }
    // The environment and the session configure the vault, not the bundle.
    guard role != .bundle else { return [] }
    let keptKey = Unlocking { [location, keptKeyUse] () throws(VaultError) -> Vault.Credential? in
      try KeptKey.find(location, for: keptKeyUse).map { .slot($0.key) }
    }
    let command = Unlocking { () throws(VaultError) in try PassphraseCommand.configured()?.read() }
    return [
      (.credentialsDirectory, .credentialsDirectory(trusting: trust)),
      (.keyFileVariable, Self.way(of: "SECRETPREFS_KEY_FILE", .keyFileVariable())),
      (.identityVariable, Self.way(of: "SECRETPREFS_IDENTITY_FILE", .identityVariable(trusting: trust))),
      (.passphraseVariable, .passphraseVariable()),
      (.passphraseCommandVariable, command), (.keptKey, keptKey),
    ]
  }

  /// Prompts for the passphrase.
  private func ask(inspectsFile: Bool, rejected: Int) throws(VaultError) -> SecretBytes {
    if inspectsFile {
      guard try info().hasPassphrase else {
        throw VaultError(
          .noCredential, "no key file is configured, and the vault has no passphrase slot",
          cause: Cure(hint: KeptKey.hintAfterLogout ?? Hints.keyFile))
      }
    }
    do throws(VaultError) {
      guard mayPrompt else { throw VaultError(.noCredential, "no passphrase or key file is configured") }
      return try Prompt.passphrase(of: (role.map { $0.rawValue + " " } ?? "") + location.name, rejected: rejected)
    } catch {
      guard error.code == .noCredential, keptKeyUse == .ignore, try KeptKey.find(location, for: .look) != nil else {
        throw error
      }
      throw VaultError(
        .noCredential, "\(error.message); the key that \"secretprefs unlock\" keeps is not used by this command",
        cause: Cure(hint: "--key-file or --passphrase-fd gives the credential itself"))
    }
  }
}

extension VaultError {
  /// A usage error, where only errors of a vault can be thrown.
  fileprivate static func usage(_ error: ToolError) -> VaultError {
    VaultError(.invalidName, error.message, cause: error)
  }
}

extension VaultInfo {
  /// Whether a passphrase can unlock the vault.
  var hasPassphrase: Bool { slots.contains { if case .passphrase = $0.kind { true } else { false } } }
}

extension VaultAccess {
  /// All key and identity files that options and the environment name, including those that a higher-ranking one
  /// overrides.
  var keyFiles: [(kind: CredentialFile, path: String)] {
    get throws(ToolError) {
      let named: [(CredentialFile, String?)] = [
        (.key, keyFile), (.identity, identity), (.deviceKey, deviceKeyFile),
        (.key, try VaultLocation.variable("SECRETPREFS_KEY_FILE")),
        (.identity, try VaultLocation.variable("SECRETPREFS_IDENTITY_FILE")),
        (.deviceKey, try VaultLocation.variable("SECRETPREFS_DEVICE_KEY_FILE")),
      ]
      return named.compactMap { kind, path in path.map { (kind, $0) } }
    }
  }
}
