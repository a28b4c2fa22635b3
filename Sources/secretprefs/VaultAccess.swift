internal import Glibc
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// A vault and how to unlock it: everything the options of a command said, checked.
struct VaultAccess {
  let location: VaultLocation
  var keyFile: String?
  var passphraseDescriptor: Int32?
  var mayPrompt = true
  var lockTimeout = Duration.seconds(30)
  /// Whether a record whose expiry has passed is not read.
  var refusesExpired = false
  /// Where long work shows how far it has come.
  var progress: ProgressLine?

  /// Opens the vault with the first way to unlock that is configured (`Docs/Format.md` section 6).
  func open(_ messages: Messages) throws -> Vault {
    try open(messages, unlocking: .first(of: [configured(), .passphrase(ask())]))
  }

  /// As ``open(_:)`` without ever asking; nil when nothing is configured.
  func openIfConfigured(_ messages: Messages) throws -> Vault? {
    do { return try open(messages, unlocking: configured()) } catch let error as VaultError {
      guard error.code == .noCredential else { throw error }
      return nil
    }
  }

  /// How every command treats a vault.
  var options: Vault.Options {
    var options = Vault.Options()
    options.lockTimeout = lockTimeout
    // The library is careful with a server's memory; a person who stores a large file means it.
    options.limits.writtenValueBytes = ValueReader.longest
    if refusesExpired { options.expiredRecords = .refuse }
    if let progress { options.progress = { progress.show($0.done, of: $0.total) } }
    return options
  }

  /// Adds what only the tool knows to an error about a missing vault: where it was looked for.
  func explained(_ error: VaultError) -> any Error {
    guard error.code == .notFound, !location.isFromArgument else { return error }
    return ToolError(error, hint: "looked for \(displayed(location.path)); \(Hints.makeVault)")
  }

  private func open(_ messages: Messages, unlocking: Unlocking) throws -> Vault {
    let variable = "SECRETPREFS_PASSPHRASE"
    let wasSet = getenv(variable) != nil
    defer {
      if wasSet, getenv(variable) == nil {  // it was taken, so it was the one that counted
        messages.warn("\(variable) is visible to every program of the same user; a key file is safer")
      }
    }
    do throws(VaultError) {
      return try Vault.open(at: location.path, unlocking: unlocking, options: options)
    } catch { throw explained(error) }
  }

  private func configured() -> Unlocking {
    if let passphraseDescriptor { return .passphraseDescriptor(passphraseDescriptor) }
    if let keyFile { return .keyFile(keyFile) }
    return .automatic
  }

  /// The last resort. Nobody is asked for the passphrase of a vault that is missing, broken or has none.
  private func ask() -> @Sendable () throws(VaultError) -> SecretBytes {
    let (path, options, mayPrompt) = (location.path, options, mayPrompt)
    return { () throws(VaultError) in
      let summary = try VaultSummary(at: path, options: options)
      let hasPassphrase = summary.slots.contains { if case .passphrase = $0.kind { true } else { false } }
      guard hasPassphrase else {
        throw VaultError(.noCredential, "no key file is configured, and this vault has no passphrase")
      }
      guard mayPrompt else { throw VaultError(.noCredential, "no passphrase and no key file is configured") }
      return try Prompt.passphrase(of: path)
    }
  }
}
