internal import DurableFiles
package import VaultCore
package import VaultSealing

/// The file of an identity: its text, and in a second line the pin of the vault that it trusts, if there is one
/// (`Docs/Format.md` annex G).
///
/// While the identity gives new keys to the vault, a third line has the pin that comes next, so that the file opens the
/// vault whether or not that write was made.
package struct IdentityFile: Sendable {
  package let identity: VaultIdentity
  package let pin: VaultPin?
  /// Of the same vault.
  package let nextPin: VaultPin?

  package init(identity: VaultIdentity, pin: VaultPin?, nextPin: VaultPin? = nil) {
    self.identity = identity
    self.pin = pin
    self.nextPin = nextPin
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

  private static let longest = KeyText.Form.identity.count + 2 * VaultPin.textCount + 3

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
    let pins = text.extracting(count...).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let first = VaultPin.textCount + 1
    guard pins.utf8.count > first else {
      self.init(identity: identity, pin: try VaultPin(pins))
      return
    }
    let pin = try VaultPin(String(decoding: pins.utf8.prefix(first), as: UTF8.self))
    let next = try VaultPin(String(decoding: pins.utf8.dropFirst(first), as: UTF8.self))
    guard pin.vaultID == next.vaultID else {
      throw VaultError(.invalidKeyText, "the two pins of the identity are those of different vaults")
    }
    self.init(identity: identity, pin: pin, nextPin: next)
  }

  /// The text of the file without the line feed at its end, in guarded memory.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  package func text() throws(VaultError) -> SecretBytes {
    let secret = try identity.text()
    let rest = Array([pin, nextPin].compactMap(\.self).map { "\n\($0)" }.joined().utf8)
    var text = try SecretBytes(count: secret.count + rest.count)
    text.withUnsafeMutableBytes { text in
      secret.withUnsafeBytes { text.copyMemory(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: text[secret.count...]).copyBytes(from: rest)
    }
    return text
  }

  /// The credential for the pin of the caller, else that of the environment, else those of the file.
  /// - Throws: ``VaultError/Code/noCredential`` if there is none; ``VaultError/Code/invalidKeyText``.
  package func credential(trusting pin: VaultPin?) throws(VaultError) -> Vault.Credential {
    let isOwn = try Self.named(pin) == nil
    return try .identity(identity, trusting: try trusted(pin), next: isOwn ? nextPin : nil)
  }

  /// The pin of the caller, else that of the environment, else that of the file.
  /// - Throws: ``VaultError/Code/noCredential`` if there is none; ``VaultError/Code/invalidKeyText``.
  package func trusted(_ pin: VaultPin?) throws(VaultError) -> VaultPin {
    guard let configured = try Self.named(pin) ?? self.pin else {
      throw VaultError(
        .noCredential, "an identity is configured, and no pin: nothing says which vault the identity trusts",
        cause: WithoutPin())
    }
    return configured
  }

  /// The pin of the caller, else that of the environment; `nil` if the one of the file is used.
  /// - Throws: ``VaultError/Code/invalidKeyText``.
  package static func named(_ pin: VaultPin?) throws(VaultError) -> VaultPin? {
    if let pin { pin } else { try pinOfEnvironment }
  }

  /// The cause of the error of an identity without a pin.
  package struct WithoutPin: Error {}

  /// The cause of the error of a variable that holds no pin.
  package struct BadVariable: Error {}

  private static var pinOfEnvironment: VaultPin? {
    get throws(VaultError) {
      let variable = "SECRETPREFS_TRUST"
      guard let text = try Environment.text(variable) else { return nil }
      do throws(VaultError) { return try VaultPin(text) } catch {
        throw VaultError(error.code, "the variable \(variable): \(error.message)", cause: BadVariable())
      }
    }
  }
}
