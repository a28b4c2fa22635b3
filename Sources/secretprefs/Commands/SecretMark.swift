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

  /// Marks the value of a record as a secret, or that of a new key as none, and keeps its other attributes. The value
  /// of a key that is there stays a secret: a person may have marked it as one.
  ///
  /// - Parameters:
  ///   - edit: The edit that stores the value.
  ///   - record: The record that has the key.
  static func set(_ isSecret: Bool, in edit: inout RecordEdit, over record: RecordInfo?) throws(VaultError) {
    guard isSecret ? record?.isSecret == false : record == nil else { return }
    let others = if case .set(let given) = edit.attributes { given } else { record?.attributes ?? [] }
    edit.attributes = .set(try isSecret ? others.replacing(attribute, with: nil) : none(others))
  }

  /// Whether a text that is meant as a user name or URL may have a secret in it, such as a password before the host, or
  /// a token in the path or the query.
  static func mayBeSecret(_ text: some Sequence<UInt8>) -> Bool {
    var isAddress = false
    var hasPart = false
    var part = PathPart()
    var last = UInt8(ascii: "/")
    for byte in text {
      if byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/") { isAddress = true }
      if "@?#;".utf8.contains(byte) { hasPart = true }
      if byte == UInt8(ascii: "/") {
        part = PathPart(isHost: last == byte)
      } else {
        part.add(byte)
        if part.looksRandom { hasPart = true }
      }
      last = byte
    }
    return isAddress && hasPart
  }

  /// What is between two slashes of an address. The first part, and one behind two slashes, are the scheme and the
  /// host.
  private struct PathPart {
    var isHost = true
    private var count = 0
    private var hasDigit = false
    private var hasCapital = false
    private var hasSmall = false

    init(isHost: Bool = true) { self.isHost = isHost }

    mutating func add(_ byte: UInt8) {
      count += 1
      switch byte {
      case 0x30...0x39: hasDigit = true
      case 0x41...0x5A: hasCapital = true
      case 0x61...0x7A: hasSmall = true
      default: break
      }
    }

    /// Whether it is as long and as mixed as a token of a webhook. Some names of documents are, too.
    var looksRandom: Bool {
      !isHost && count >= 16 && [hasDigit, hasCapital, hasSmall].count(where: \.self) >= 2
    }
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
