/// A text in place of a value, which its program replaces: a reference to a value elsewhere, or an encrypted value.
///
/// An import leaves it out: as a password it would fail, or be sent to a server.
enum ForeignReference {
  private static let kinds: [(prefix: StaticString, name: String)] = [
    ("op://", "a reference of 1Password (op://)"), ("pass://", "a reference of Proton Pass (pass://)"),
    ("keeper://", "a reference of Keeper (keeper://)"), ("secret://", "a reference of secretprefs (secret://)"),
    ("{{ secret://", "a reference of secretprefs ({{ secret://)"), ("{{ op://", "a reference of 1Password ({{ op://)"),
    ("ENC[AES256_GCM,", "encrypted by sops (ENC[)"), ("encrypted:B", "encrypted by dotenvx (encrypted:)"),
  ]

  /// What the text is; `nil` for a value.
  static func name(of text: Slice<UnsafeRawBufferPointer>) -> String? {
    kinds.first { kind in kind.prefix.withUTF8Buffer { text.starts(with: $0) } }?.name
  }
}
