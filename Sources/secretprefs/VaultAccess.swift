internal import Glibc
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// A vault and how to unlock it: everything the options of a command said, checked.
struct VaultAccess {
  var location: VaultLocation
  var keyFile: String?
  var passphraseDescriptor: Int32?
  var mayPrompt = true
  var lockTimeout = Duration.seconds(30)
  /// Whether a record whose expiry has passed is not read.
  var refusesExpired = false
  /// Which owners, modes and links are accepted.
  var pathPolicy = PathPolicy.strict
  /// The file of the vault's rollback mark; none when nil.
  var markPath: String?
  /// The key file of this machine, if an option names one.
  var deviceKeyFile: String?
  /// Where long work shows how far it has come.
  var progress: ProgressLine?
  /// Which file this is, for a command that works on two.
  var role: VaultRole?

  /// With the mark that the environment names, and nothing else but the vault's path.
  init(_ location: VaultLocation) throws(ToolError) {
    self.location = location
    markPath = try VaultLocation.variable("SECRETPREFS_MARK")
  }

  /// Opens the vault with the first way to unlock that is configured (`Docs/Format.md` section 6).
  func open(_ messages: Messages) throws -> Vault { try openKeepingCredential(messages).vault }

  /// As ``open(_:)``, for work that opens more than one file.
  func openKeepingCredential(_ messages: Messages) throws -> (vault: Vault, credential: Vault.Credential) {
    do throws(VaultError) {
      let options = try unlockedOptions()
      let opened = try withCredential(messages) { (credential) throws(VaultError) in
        (try Vault.open(at: location.path, credential: credential, options: options), credential)
      }
      if try opened.0.hasTornTail { messages.warn(TornTail.warning(location.path)) }
      return opened
    } catch { throw explained(error) }
  }

  /// As ``open(_:)`` without ever asking; nil when nothing is configured.
  func openIfConfigured(_ messages: Messages) throws -> Vault? {
    do throws(VaultError) {
      guard let credential = try resolve(configured(), messages) else { return nil }
      return try Vault.open(at: location.path, credential: credential, options: try unlockedOptions())
    } catch { throw explained(error) }
  }

  /// Does what takes a credential. A passphrase that was typed and is rejected may be typed again.
  ///
  /// - Parameters:
  ///   - looking: whether nobody is asked for the passphrase of a file that is missing, broken or has none.
  ///   - body: runs again with each passphrase that is typed.
  func withCredential<Result>(
    _ messages: Messages, looking: Bool = true, _ body: (Vault.Credential) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    if let credential = try resolve(configured(), messages) { return try body(credential) }
    var rejected = 0
    while true {
      let credential = Vault.Credential.passphrase(try ask(looking: looking, rejected: rejected))
      do throws(VaultError) { return try body(credential) } catch {
        rejected += 1
        guard error.code == .credentialRejected, rejected < Prompt.tries else { throw error }
      }
    }
  }

  /// How every command treats a vault.
  var options: Vault.Options {
    var options = Vault.Options()
    options.lockTimeout = lockTimeout
    options.pathPolicy = pathPolicy
    options.markPath = markPath
    // The library is careful with a server's memory; a person who stores a large file means it.
    options.limits.writtenValueBytes = ValueReader.longest
    if refusesExpired { options.expiredRecords = .refuse }
    if let progress { options.progress = { progress.show($0.done, of: $0.total) } }
    return options
  }

  /// As ``options``, with the key of this machine if one is configured.
  func unlockedOptions() throws(VaultError) -> Vault.Options {
    var options = options
    options.deviceKey = if let deviceKeyFile { try DeviceKey.file(deviceKeyFile) } else { try DeviceKey.automatic() }
    return options
  }

  /// Adds what only the tool knows to an error: whether it is the mark that is broken.
  func explained(_ error: VaultError) -> any Error {
    if let role { return role.explained(error, path: location.path) }
    if error.code == .malformed, let markPath {
      do { _ = try RollbackMark.read(at: markPath) } catch let broken as ToolError { return broken } catch {}
    }
    return error
  }

  private func resolve(_ unlocking: Unlocking, _ messages: Messages) throws(VaultError) -> Vault.Credential? {
    let variable = "SECRETPREFS_PASSPHRASE"
    let wasSet = getenv(variable) != nil
    defer {
      if wasSet, getenv(variable) == nil {  // it was removed, and could be seen until then
        messages.warn("\(variable) is visible to every program of the same user; a key file is safer")
      }
    }
    return try unlocking.credential()
  }

  private func configured() -> Unlocking {
    if let passphraseDescriptor { return .passphraseDescriptor(passphraseDescriptor) }
    if let keyFile { return .keyFile(keyFile) }
    // What the environment names is the vault's.
    return role == .bundle ? .first(of: []) : .automatic
  }

  /// The last resort: asks for the passphrase.
  private func ask(looking: Bool, rejected: Int) throws(VaultError) -> SecretBytes {
    if looking {
      let summary = try VaultSummary(at: location.path, options: options)
      let hasPassphrase = summary.slots.contains { if case .passphrase = $0.kind { true } else { false } }
      guard hasPassphrase else {
        throw VaultError(.noCredential, "no key file is configured, and this vault has no passphrase")
      }
    }
    guard mayPrompt else { throw VaultError(.noCredential, "no passphrase and no key file is configured") }
    return try Prompt.passphrase(of: (role.map { $0.rawValue + " " } ?? "") + location.path, rejected: rejected)
  }
}

extension VaultAccess {
  /// The key files that are named, whichever of them would be used.
  var keyFiles: [(what: String, path: String)] {
    get throws(ToolError) {
      let named = [
        ("the key file", keyFile), ("the device key file", deviceKeyFile),
        ("the key file", try VaultLocation.variable("SECRETPREFS_KEY_FILE")),
        ("the device key file", try VaultLocation.variable("SECRETPREFS_DEVICE_KEY_FILE")),
      ]
      return named.compactMap { what, path in path.map { (what, $0) } }
    }
  }
}
