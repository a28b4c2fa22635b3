internal import DurableFiles
package import VaultCore
package import VaultSealing

/// The file of an identity: its text, and in a second line the pin of the vault that it trusts, if there is one
/// (`Docs/Format.md` annex G).
package struct IdentityFile: Sendable {
  package let identity: VaultIdentity
  package let pin: VaultPin?

  package init(identity: VaultIdentity, pin: VaultPin?) {
    self.identity = identity
    self.pin = pin
  }

  /// Reads the file at `path`, under the rules for key files.
  /// - Throws: ``VaultError/Code/insecurePermissions``, ``VaultError/Code/invalidKeyText`` and ``VaultError/Code/io``.
  ///   The message contains the file's path and never its content.
  package init(at path: String) throws(VaultError) {
    let kind = CredentialFile.identity
    let bytes = try CredentialReader.contents(of: path, atMost: Self.longest + 1, kind)
    do throws(VaultError) {
      self = try bytes.withSpan { (bytes) throws(VaultError) in try IdentityFile(bytes) }
    } catch { throw error.about("\(kind.rawValue) \(path)") }
  }

  private static let longest = KeyText.Form.identity.count + VaultPin.textCount + 2

  /// Reads the lines of a file.
  /// - Throws: ``VaultError/Code/invalidKeyText``.
  package init(_ text: RawSpan) throws(VaultError) {
    let count = KeyText.Form.identity.count + 1
    guard text.byteCount > count else {
      self.init(identity: try VaultIdentity(text: text), pin: nil)
      return
    }
    let identity = try VaultIdentity(text: text.extracting(..<count))
    // Not a secret: the identity ends before it.
    let pin = text.extracting(count...).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    self.init(identity: identity, pin: try VaultPin(pin))
  }

  /// The text of the file without the line feed at its end, in guarded memory.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  package func text() throws(VaultError) -> SecretBytes {
    let secret = try identity.text()
    let rest = Array((pin.map { "\n\($0)" } ?? "").utf8)
    var text = try SecretBytes(count: secret.count + rest.count)
    text.withUnsafeMutableBytes { text in
      secret.withUnsafeBytes { text.copyMemory(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: text[secret.count...]).copyBytes(from: rest)
    }
    return text
  }

  /// The credential for the pin of the caller, else that of the environment, else that of the file.
  /// - Throws: ``VaultError/Code/noCredential`` if there is none; ``VaultError/Code/invalidKeyText``.
  package func credential(trusting pin: VaultPin?) throws(VaultError) -> Vault.Credential {
    try .identity(identity, trusting: try trusted(pin))
  }

  /// The pin of the caller, else that of the environment, else that of the file.
  /// - Throws: ``VaultError/Code/noCredential`` if there is none; ``VaultError/Code/invalidKeyText``.
  package func trusted(_ pin: VaultPin?) throws(VaultError) -> VaultPin {
    let configured = if let pin { pin } else { try Self.pinOfEnvironment ?? self.pin }
    guard let configured else {
      throw VaultError(
        .noCredential, "an identity is configured, and no pin: nothing says which vault the identity trusts",
        cause: WithoutPin())
    }
    return configured
  }

  /// The cause of the error of an identity without a pin.
  package struct WithoutPin: Error {}

  private static var pinOfEnvironment: VaultPin? {
    get throws(VaultError) {
      guard let text = try Environment.text("SECRETPREFS_TRUST") else { return nil }
      return try VaultPin(text)
    }
  }
}
