/// A text in place of a value, which its program replaces: a reference to a value elsewhere, or an encrypted value.
///
/// An import leaves it out: as a password it would fail, or be sent to a server.
enum ForeignReference {
  private static let kinds: [(prefix: StaticString, name: String)] = [
    ("op://", "a reference of 1Password (op://)"), ("pass://", "a reference of Proton Pass (pass://)"),
    ("keeper://", "a reference of Keeper (keeper://)"), ("secret://", "a reference of secretprefs (secret://)"),
    ("{{ secret://", "a reference of secretprefs ({{ secret://)"), ("{{ op://", "a reference of 1Password ({{ op://)"),
    ("ENC[AES256_GCM,", "encrypted by sops (ENC[)"), ("encrypted:B", "encrypted by dotenvx (encrypted:)"),
    ("gopass://", "a reference of gopass (gopass://)"),
    ("bws://", "a reference of Bitwarden (bws://)"), ("vault://", "a reference of Vault (vault://)"),
    (">>vault:", "a reference of Vault (>>vault:)"),
  ]

  /// What the text is; `nil` for a value.
  static func name(of text: Slice<UnsafeRawBufferPointer>) -> String? {
    if let kind = kinds.first(where: { kind in kind.prefix.withUTF8Buffer { text.starts(with: $0) } }) {
      return kind.name
    }
    if KeePassReferences.isReplaced(text) { return "a text that KeePass replaces" }
    // A value of other programs can begin like these two, but not go on so: a host and its port, for example.
    if text.starts(with: "vault:".utf8), text.contains(UInt8(ascii: "#")) { return "a reference of Vault (vault:)" }
    let isOfVals = text.starts(with: "ref+".utf8) && text.prefix(60).firstRange(of: Array("://".utf8)) != nil
    return isOfVals ? "a reference of vals (ref+)" : nil
  }

  /// What an argument is in which a key was expected; `nil` for a key.
  static func name(ofArgument argument: String) -> String? {
    var argument = argument
    return argument.withUTF8 { name(of: UnsafeRawBufferPointer($0)[...]) }
  }

  /// The member of a JSON document that sops adds, if the document is sealed.
  static let sopsMember = JSONPosition.Component.name("sops")

  /// Whether sops has sealed a document: it adds a code by which it finds out about changes.
  static func isSealed(_ leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    leaves.contains { leaf in
      leaf.kind == .text && leaf.path == [sopsMember, .name("mac")]
        && name(of: UnsafeRawBufferPointer(bytes)[leaf.bytes]) != nil
    }
  }

  /// What a variable of a dotenv file is, by its name, if the file is sealed; `nil` for a value of the user.
  static func metadata(variable name: String, isSops: Bool) -> String? {
    if isSops, name.hasPrefix("sops_") { return "metadata of sops" }
    return name.hasPrefix("DOTENV_PUBLIC_KEY") ? "the public key of dotenvx" : nil
  }
}
