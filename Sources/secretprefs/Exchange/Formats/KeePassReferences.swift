/// The texts in fields that KeePass replaces when it uses them: references to fields of entries, and placeholders.
///
/// A field that is one reference by an id, `{REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}`, has the value of that field.
/// All other fields with such texts are left out: KeePass would not use them as they are written.
struct KeePassReferences {
  /// A field with such a text is not a value.
  struct Unresolved: Error { let reason: String }

  private static let mostSteps = 8
  private static let wantedFields: [UInt8: String] = [
    UInt8(ascii: "T"): "Title", UInt8(ascii: "U"): "UserName", UInt8(ascii: "P"): "Password",
    UInt8(ascii: "A"): "URL", UInt8(ascii: "N"): "Notes",
  ]
  /// The placeholders that stand for other text, up to their colon or closing brace. From the list of KeePass, without
  /// those that press keys, which may be passwords as they are written.
  static let placeholders: [String] = [
    "REF:", "TITLE}", "USERNAME}", "URL}", "URL:", "PASSWORD}", "PASSWORD_ENC}", "NOTES}", "S:", "T-REPLACE-RX:",
    "T-CONV:", "CMD:", "TOTP}", "TIMEOTP}", "HMACOTP}", "NEWPASSWORD}", "NEWPASSWORD:", "PICKCHARS}", "PICKCHARS:",
    "PICKFIELD}", "UUID}", "GROUP}", "GROUP_PATH}", "GROUP_NOTES}", "DB_PATH}", "DB_DIR}", "DB_NAME}", "APPDIR}",
    "BASE}", "BASE:", "C:", "CLIPBOARD}", "DT_SIMPLE}", "DT_UTC_SIMPLE}",
  ]

  private let bytes: UnsafeMutableRawBufferPointer
  /// The fields of each entry that a reference can name, by its id; `nil` for an id that several entries have.
  private var entries: [[UInt8]: [String: Range<Int>]?] = [:]

  init(_ entries: [KeePassEntry], in bytes: UnsafeMutableRawBufferPointer) {
    self.bytes = bytes
    for entry in entries where entry.id.count == 16 {
      let id = Array(bytes[entry.id])
      let fields = entry.fields.filter { Self.wantedFields.values.contains($0.name) }.map { ($0.name, $0.bytes) }
      self.entries[id] = self.entries[id] == nil ? Dictionary(fields) { first, _ in first } : .some(nil)
    }
  }

  /// The value of a field, which may be in a different entry.
  func value(of field: (name: String, bytes: Range<Int>)) throws(Unresolved) -> Range<Int> {
    var value = field.bytes
    var steps = 0
    while let target = reference(value) {
      steps += 1
      guard steps <= Self.mostSteps, case .some(.some(let fields)) = entries[target.id],
        let next = fields[target.field]
      else { throw Unresolved(reason: "a reference ({REF:) to a field that this file does not have, or not once") }
      value = next
    }
    if let name = placeholder(in: value, isNote: field.name == "Notes") {
      throw Unresolved(reason: "KeePass replaces {\(name) in it by a different text")
    }
    return value
  }

  /// The field and the entry that the whole text refers to.
  private func reference(_ text: Range<Int>) -> (field: String, id: [UInt8])? {
    let form = Array("{REF:?@I:".utf8)
    guard text.count == form.count + 33, bytes[text.upperBound - 1] == UInt8(ascii: "}"),
      zip(bytes[text], form).allSatisfy({ $1 == UInt8(ascii: "?") || Self.upper($0) == $1 }),
      let field = Self.wantedFields[Self.upper(bytes[text.lowerBound + 5])]
    else { return nil }
    var id: [UInt8] = []
    for index in stride(from: text.lowerBound + form.count, to: text.upperBound - 1, by: 2) {
      guard let high = DecodedText.hexDigit(bytes[index]), let low = DecodedText.hexDigit(bytes[index + 1])
      else { return nil }
      id.append(high << 4 | low)
    }
    return (field, id)
  }

  /// The first placeholder in a text. KeePass shows notes as they are, except references.
  private func placeholder(in text: Range<Int>, isNote: Bool) -> String? {
    for index in text where bytes[index] == UInt8(ascii: "{") {
      let found = Self.placeholder(beginning: bytes[(index + 1)..<text.upperBound])
      if let found, !isNote || found == "REF:" { return found }
    }
    return nil
  }

  /// - Parameter text: What follows an opening brace.
  private static func placeholder(beginning text: some Collection<UInt8>) -> String? {
    placeholders.first { name in
      text.count >= name.utf8.count && zip(text, name.utf8).allSatisfy { upper($0) == $1 }
    }
  }

  /// Whether a value of another format is a placeholder as a whole, or has a reference to a field in its first 64
  /// bytes: KeePassXC writes both into CSV as they are. Other texts with a placeholder may be passwords there.
  static func isReplaced(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    let brace = UInt8(ascii: "{")
    if text.first == brace, text.firstIndex(of: UInt8(ascii: "}")) == text.indices.last,
      placeholder(beginning: text.dropFirst()) != nil
    {
      return true
    }
    let start = text.prefix(64)
    return start.indices.contains { index in
      let rest = text[index...]
      return text[index] == brace && rest.dropFirst(6).first == UInt8(ascii: "@")
        && placeholder(beginning: rest.dropFirst()) == "REF:"
    }
  }

  private static func upper(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte
  }
}
