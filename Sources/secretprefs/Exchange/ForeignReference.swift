/// A text in place of a value, which its program replaces: a reference to a value elsewhere, or an encrypted value.
///
/// An import leaves it out: as a password it would fail, or be sent to a server.
enum ForeignReference {
  private static let programs: [(scheme: String, program: String)] = [
    ("op://", "1Password"), ("pass://", "Proton Pass"), ("keeper://", "Keeper"), ("secret://", "secretprefs"),
    ("gopass://", "gopass"), ("bws://", "Bitwarden"), ("vault://", "Vault"), (">>vault:", "Vault"),
  ]
  private static let sealed: [(prefix: String, name: String)] = [
    ("ENC[AES256_GCM,", "encrypted by sops (ENC[)"), ("encrypted:B", "encrypted by dotenvx (encrypted:)"),
  ]

  /// What the text is; `nil` for a value.
  static func name(of text: Slice<UnsafeRawBufferPointer>) -> String? {
    if let kind = sealed.first(where: { text.starts(with: $0.prefix.utf8) }) { return kind.name }
    // A template has the reference in braces, with or without blanks before it.
    let isInBraces = text.starts(with: "{{".utf8)
    let reference = isInBraces ? text.dropFirst(2).drop(while: InputText.isSpace) : text
    if let (scheme, program) = programs.first(where: { matches(reference.prefix($0.scheme.utf8.count), $0.scheme) }) {
      return "a reference of \(program) (\(isInBraces ? "{{ " : "")\(scheme))"
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
