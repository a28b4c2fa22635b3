internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// The identity file whose own pin opened a vault.
///
/// Before the identity gives new keys to the vault, the file gets the next pin behind the present one, and afterwards
/// it loses the former one. So it opens the vault also if the command ends in between, or if its output is lost. The
/// next command that opens the vault by the second pin completes what was interrupted.
struct TrustingFile {
  let path: String

  /// Adds the next pin behind the present one. Durable when the method returns.
  /// - Throws: an error if the file cannot be changed, or does not trust the present pin any more.
  func add(_ next: VaultPin, behind present: VaultPin) throws(VaultError) {
    try update { (file) throws(VaultError) in
      guard [file.pin, file.nextPin].contains(present) else {
        throw VaultError(.conflict, "\(path): the identity file was changed meanwhile")
      }
      return IdentityFile(identity: file.identity, pin: present, nextPin: next)
    }
  }

  /// Removes the former pin, of which others may know the keys, if the second pin is that of the vault. Only that
  /// order is safe: if the first one opens the vault, a write with the second one may still be under way.
  ///
  /// - Returns: the former pin, if it was removed.
  @discardableResult
  func settle(on pin: VaultPin, _ messages: Messages) -> VaultPin? {
    var former: VaultPin?
    do throws(VaultError) {
      try update { (file) throws(VaultError) in
        guard file.nextPin == pin else { return nil }
        former = file.pin
        return IdentityFile(identity: file.identity, pin: pin)
      }
      return former
    } catch {
      messages.warn("the identity still trusts the former pin of the vault, too (\(displayed(error.message)))")
      return nil
    }
  }

  /// The identity with the pins of the file, whichever is named elsewhere; `nil` if it has none.
  /// - Throws: an error if the file cannot be changed, too: one that can be read only once is left alone.
  func credential() throws(VaultError) -> Vault.Credential? {
    var credential: Vault.Credential?
    try update { (file) throws(VaultError) in
      credential = try file.pin.map { (pin) throws(VaultError) in
        try Vault.Credential.identity(file.identity, trusting: pin, next: file.nextPin)
      }
      return nil
    }
    return credential
  }

  /// Changes the file, if `change` returns another one, while no other command changes its pins.
  private func update(_ change: (IdentityFile) throws(VaultError) -> IdentityFile?) throws(VaultError) {
    let path = PathName.resolved(path) ?? path
    let locked = try locked(path)
    defer { extendLifetime(locked) }
    if let new = try change(try IdentityFile(at: path)) { try new.replace(path) }
  }

  /// The file of that name, locked until the result is released.
  private func locked(_ path: String) throws(VaultError) -> Descriptor<VaultError> {
    while true {
      let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) { .io("open \(path)", $0) }
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw VaultError(.insecurePermissions, "\(path) is not a regular file, and cannot be replaced")
      }
      guard try file.lock(until: Deadline(after: .seconds(5))) else {
        throw VaultError(.lockTimeout, "\(path): another process has locked the identity file")
      }
      // The process that had the lock may have replaced the file.
      if FileIdentity(at: path) == FileIdentity(status) { return file }
    }
  }
}

extension IdentityFile {
  /// Writes this in place of the file at `path`. Durable when the method returns.
  func replace(_ path: String) throws(VaultError) {
    let text = try self.text()
    try OutputFile.replace(path, kind: .identity) { (file) throws(VaultError) in
      try text.withSpan { (text) throws(VaultError) in try file.write(text, at: 0) }
      try file.write([UInt8(ascii: "\n")], at: text.count)
    }
  }
}

extension VaultAccess {
  /// The file of the identity that is the credential; `nil` for a different credential, and if the pin is not the
  /// file's own.
  func trustingFile(_ credential: Vault.Credential) throws(VaultError) -> TrustingFile? {
    try IdentityFile.named(trust) == nil ? identityFile(credential) : nil
  }

  /// The file of the identity that is the credential; `nil` for a different credential.
  func identityFile(_ credential: Vault.Credential) throws(VaultError) -> TrustingFile? {
    guard credential.holder != nil else { return nil }
    if let identity { return TrustingFile(path: identity) }
    let mounted = try Environment.credentialsDirectory.map { ServiceCredential.identity.path(in: $0) }
    if let mounted, FileIdentity(at: mounted) != nil { return TrustingFile(path: mounted) }
    return try Environment.text("SECRETPREFS_IDENTITY_FILE").map { TrustingFile(path: $0) }
  }

  /// Completes the rotation of a vault that this identity has made and could not end.
  func completeRotation(of vault: Vault, _ credential: Vault.Credential, _ messages: Messages) throws(VaultError) {
    guard credential.hasNextPin, let file = try trustingFile(credential) else { return }
    let pin: VaultPin
    // Only an owner knows it.
    do throws(VaultError) { pin = try vault.loadedPin() } catch { return }
    if let former = file.settle(on: pin, messages) { messages.warn(former.warningOfBackups) }
  }
}
