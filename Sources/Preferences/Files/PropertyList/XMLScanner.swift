/// Splits XML into tags and text.
struct XMLScanner {
  struct ElementTag: Equatable {
    enum Form {
      case opening
      case closing
      case empty
    }

    let name: String
    let form: Form
  }

  let bytes: [UInt8]
  var position = 0

  var isAtEnd: Bool { position == bytes.count }

  init(_ bytes: [UInt8]) throws(PreferencesError) {
    self.bytes = bytes
    guard String(validating: bytes, as: UTF8.self) != nil else { throw malformed("not UTF-8") }
    _ = skip("\u{FEFF}")
  }

  /// Skips everything before the first element, such as the XML declaration and the document type.
  mutating func skipProlog() throws(PreferencesError) {
    if skip("<?xml") {
      let start = position
      try skip(through: "?>")
      // Other instructions, such as `xml-stylesheet`, are no declaration. The bytes are valid UTF-8, but would mean
      // other characters in a different encoding.
      if Self.isSpace(bytes[start]), let encoding = try encoding(in: bytes[start..<position - 2]),
        encoding.lowercased() != "utf-8"
      {
        throw malformed("an encoding other than UTF-8")
      }
    }
    try skipMisc()
    if skip("<!DOCTYPE") {
      let start = position
      try skip(through: ">")
      // An internal subset can declare entities, with which a small file becomes huge.
      guard !bytes[start..<position].contains(UInt8(ascii: "[")) else { throw malformed("a declared subset") }
    }
    try skipMisc()
  }

  /// The encoding that an XML declaration names. The name alone decides: a different attribute may contain `utf-8`.
  private func encoding(in declaration: ArraySlice<UInt8>) throws(PreferencesError) -> String? {
    var rest = declaration.drop(while: Self.isSpace)
    var encoding: String?
    while !rest.isEmpty {
      let name = rest.prefix(while: Self.isLetter)
      rest = rest.dropFirst(name.count).drop(while: Self.isSpace)
      guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { throw malformed("not an XML declaration") }
      rest = rest.drop(while: Self.isSpace)
      guard let quote = rest.popFirst(), "\"'".utf8.contains(quote), let end = rest.firstIndex(of: quote) else {
        throw malformed("not an XML declaration")
      }
      if name.elementsEqual("encoding".utf8) { encoding = String(decoding: rest[..<end], as: UTF8.self) }
      rest = rest[(end + 1)...].drop(while: Self.isSpace)
    }
    return encoding
  }

  /// Skips white space, comments and processing instructions.
  mutating func skipMisc() throws(PreferencesError) {
    while true {
      while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
      if skip("<!--") {
        try skipComment()
      } else if skip("<?") {
        // Other parsers take `<?>` for the whole instruction, and read what this one would skip.
        guard !at(">") else { throw malformed("an instruction without a name") }
        try skip(through: "?>")
      } else {
        return
      }
    }
  }

  /// Reads the next tag; only white space, comments and processing instructions may precede it.
  mutating func readTag() throws(PreferencesError) -> ElementTag {
    try skipMisc()
    guard skip("<") else { throw malformed("expected a tag") }
    let isClosing = skip("/")
    let start = position
    while position < bytes.count, Self.isLetter(bytes[position]) { position += 1 }
    let name = String(decoding: bytes[start..<position], as: UTF8.self)
    // The version of the root is the only attribute of the format.
    if name == "plist", !isClosing { while position < bytes.count, !at(">") { position += 1 } }
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    if !isClosing, skip("/>") { return ElementTag(name: name, form: .empty) }
    guard !name.isEmpty, skip(">") else { throw malformed("a tag that the format does not know") }
    return ElementTag(name: name, form: isClosing ? .closing : .opening)
  }

  /// Reads text up to the next tag, with references and CDATA sections resolved.
  mutating func readText() throws(PreferencesError) -> String {
    var text: [UInt8] = []
    while position < bytes.count {
      if skip("<![CDATA[") {
        let start = position
        try skip(through: "]]>")
        text += bytes[start..<(position - 3)]
      } else if skip("<!--") {
        try skipComment()
      } else if at("<") {
        break
      } else if skip("&") {
        text += String(try reference()).utf8
      } else {
        let start = position
        while position < bytes.count, !at("<"), !at("&") { position += 1 }
        text += bytes[start..<position]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  func malformed(_ what: String) -> PreferencesError {
    PreferencesError(.malformed, "\(what) (XML, byte \(position))")
  }

  private mutating func reference() throws(PreferencesError) -> Unicode.Scalar {
    let start = position
    // The longest reference is hexadecimal with six digits.
    while position < bytes.count, position - start < 10, !at(";") { position += 1 }
    let name = String(decoding: bytes[start..<position], as: UTF8.self)
    guard skip(";") else { throw malformed("a reference that does not end") }
    let scalar: Unicode.Scalar? =
      switch name {
      case "lt": "<"
      case "gt": ">"
      case "amp": "&"
      case "quot": "\""
      case "apos": "'"
      case _ where name.hasPrefix("#x"): Self.scalar(name.dropFirst(2), radix: 16)
      case _ where name.hasPrefix("#"): Self.scalar(name.dropFirst(), radix: 10)
      default: nil
      }
    guard let scalar, scalar.value != 0 else { throw malformed("an unknown reference") }
    return scalar
  }

  private static func scalar(_ digits: Substring, radix: Int) -> Unicode.Scalar? {
    guard digits.allSatisfy(\.isHexDigit) else { return nil }
    return UInt32(digits, radix: radix).flatMap(Unicode.Scalar.init)
  }

  private func at(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      // The first byte decides in most cases.
      position < bytes.count && bytes[position] == text[0] && bytes[position...].starts(with: text)
    }
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    guard at(text) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  /// Skips a comment after its `<!--`.
  private mutating func skipComment() throws(PreferencesError) {
    // Other parsers take `<!-->` for the whole comment, and read what this one would skip.
    guard !at(">"), !at("->") else { throw malformed("a comment that ends where it begins") }
    try skip(through: "-->")
  }

  private mutating func skip(through end: StaticString) throws(PreferencesError) {
    while !isAtEnd {
      if skip(end) { return }
      position += 1
    }
    throw malformed("a construct that does not end")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte)
  }
}
