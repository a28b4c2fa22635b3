internal import VaultCore

/// Whether the value of a record is a secret: unless the record has the attribute `secret=no` (`Docs/Decisions/0071`).
enum SecretMark {
  static let attribute = "secret"

  /// The attributes of a record whose value is no secret.
  ///
  /// - Parameter others: The attributes that it has.
  static func none(_ others: [RecordEdit.Attribute]) throws(VaultError) -> [RecordEdit.Attribute] {
    try others.replacing(attribute, with: Array("no".utf8))
  }

  /// Whether a text that is meant as a user name or URL may have a secret in it, such as a password before the host or
  /// a token in the query.
  static func mayBeSecret(_ text: some Sequence<UInt8>) -> Bool {
    var isAddress = false
    var hasPart = false
    for byte in text {
      if byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/") { isAddress = true }
      if "@?#;".utf8.contains(byte) { hasPart = true }
    }
    return isAddress && hasPart
  }
}

extension RecordInfo {
  /// Whether the value is a secret. Otherwise lists show it, and `scan` and `run --mask` do not search for it. Of
  /// several attributes with this name, all must say so.
  var isSecret: Bool {
    let marks = attributes.filter { $0.name.text == SecretMark.attribute }
    return marks.isEmpty || !marks.allSatisfy { $0.data.elementsEqual("no".utf8) }
  }
}

extension [RecordEdit.Attribute] {
  /// The attributes without those of this name, and with one that has `data`, unless that is `nil`.
  func replacing(_ name: String, with data: [UInt8]?) throws(VaultError) -> [RecordEdit.Attribute] {
    let others = filter { $0.name.text != name }
    guard let data else { return others }
    return others + [try RecordEdit.Attribute(name, data)]
  }
}
