internal import DurableFiles
internal import VaultSealing

/// What a holder by public key trusts: the id of a vault and the vault's public key (`Docs/Format.md` annex G).
///
/// The text is `spv-vault-1:`, 32 lower-case hex digits, a colon and 64 more. It is the same for all holders, and not
/// secret, but must be authentic: take it from an owner or from the holder's configuration, never from where the vault
/// is stored. It changes when the vault key is replaced.
public struct VaultPin: Sendable, Hashable, CustomStringConvertible {
  /// The id of the vault.
  public let vaultID: Vault.Identifier
  /// E.
  let point: PublicPoint

  init(vaultID: Vault.Identifier, point: PublicPoint) {
    self.vaultID = vaultID
    self.point = point
  }

  private static let prefix = "spv-vault-1:"
  /// The length of the text without the optional line feed, in bytes.
  package static let textCount = prefix.utf8.count + 2 * Vault.Identifier.count + 1 + 2 * PublicPoint.count

  /// Reads a pin from its text, with or without one line feed.
  /// - Throws: ``VaultError/Code/invalidKeyText``; the message does not include the text, which may be an identity.
  public init(_ text: String) throws(VaultError) {
    var text = text.utf8[...]
    if text.count == Self.textCount + 1, text.last == UInt8(ascii: "\n") { text.removeLast() }
    let parts = text.dropFirst(Self.prefix.utf8.count).split(
      separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard text.starts(with: Self.prefix.utf8), parts.count == 2,
      let id = Vault.Identifier(hexadecimal: Substring(parts[0])), let key = [UInt8](hexadecimal: Substring(parts[1])),
      key.count == PublicPoint.count
    else {
      let isIdentity = text.starts(with: KeyText.Form.identity.prefix.utf8)
      throw VaultError(
        .invalidKeyText,
        "a vault's pin is written as \(Self.prefix), 32 lower-case hex digits, a colon and 64 more, and this is "
          + (isIdentity ? "an identity, which must stay secret" : "not"))
    }
    guard let point = PublicPoint(key.bytes) else { throw .unusablePoint("the vault's pin") }
    vaultID = id
    self.point = point
  }

  /// The text, without a line feed.
  public var description: String { "\(Self.prefix)\(vaultID):\(point.bytes.hexadecimal)" }
}
