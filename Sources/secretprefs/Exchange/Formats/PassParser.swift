internal import Preferences

/// The entries of pass as records.
///
/// The first line of an entry is the password, unless it is an `otpauth` URI. A line that is such a URI, and lines that
/// begin with `login:`, `user:`, `username:` or `url:` become fields; all others are notes. An entry that is a
/// document, such as a private key, stays whole.
enum PassParser {
  private static let fieldNames = [
    ("login", "username"), ("user", "username"), ("username", "username"), ("url", "url"),
  ]
  /// The field of an entry that stays whole.
  private static let wholeField = "content"

  static func parse(
    _ store: PassStore, in bytes: UnsafeMutableRawBufferPointer
  ) throws(PlainFault) -> PlainRecords {
    var records = PlainRecords()
    for fault in store.faults { try records.refuse(fault) }
    for name in store.others { try records.skip(name, "no entry of pass, which ends with .gpg", line: 0) }
    for entry in store.entries {
      let fields =
        PassDocument.isDocument(entry.text, in: bytes)
        ? [PlainRecords.Field(wholeField, entry.text)] : fields(entry.text, in: bytes)
      try records.add(entry: entry.name, fields, line: 0)
    }
    return records
  }

  private static func fields(_ text: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> [PlainRecords.Field] {
    var start: Int? = text.lowerBound
    func nextLine() -> Slice<UnsafeMutableRawBufferPointer>? {
      guard let first = start else { return nil }
      let line = bytes[first..<text.upperBound].prefix { $0 != UInt8(ascii: "\n") }
      start = line.endIndex < text.upperBound ? line.endIndex + 1 : nil
      return line
    }
    let first = nextLine().map(withoutReturn)
    var fields = first.map { [code($0) ?? PlainRecords.Field("password", $0.indices, isSecret: true)] } ?? []
    var following = nextLine()
    // A field beyond them is refused when it is added.
    while fields.count <= PlainRecords.most, let line = following {
      following = nextLine()
      if let field = field(withoutReturn(line)) {
        fields.append(field)
      } else {
        var notes = line.indices
        while let next = following, field(next) == nil {
          notes = notes.lowerBound..<next.endIndex
          following = nextLine()
        }
        // Notes at the end of the text lose their line end, unless they are a file: a key behind its passphrase.
        if notes.upperBound == text.upperBound, !PassDocument.endsWithFile(notes, in: bytes) {
          if bytes[notes].last == UInt8(ascii: "\n") { notes = notes.dropLast() }
          if bytes[notes].last == UInt8(ascii: "\r") { notes = notes.dropLast() }
        }
        fields.append(PlainRecords.Field("notes", notes))
      }
    }
    return fields
  }

  /// The line without the carriage return at its end, which an editor on Windows adds.
  private static func withoutReturn(
    _ line: Slice<UnsafeMutableRawBufferPointer>
  ) -> Slice<UnsafeMutableRawBufferPointer> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  /// The field of a line that is an `otpauth` URI, as pass-otp has it.
  private static func code(_ line: Slice<UnsafeMutableRawBufferPointer>) -> PlainRecords.Field? {
    guard line.starts(with: "otpauth://".utf8) else { return nil }
    return PlainRecords.Field(
      line.starts(with: "otpauth://hotp/".utf8) ? "hotp" : "totp", line.indices, isSecret: true)
  }

  private static func field(_ line: Slice<UnsafeMutableRawBufferPointer>) -> PlainRecords.Field? {
    if let code = code(line) { return code }
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    guard name.count < line.count, let field = fieldNames.first(where: { matches(name, $0.0) }) else { return nil }
    return PlainRecords.Field(field.1, line[name.endIndex...].dropFirst().drop(while: InputText.isBlank).indices)
  }
}
