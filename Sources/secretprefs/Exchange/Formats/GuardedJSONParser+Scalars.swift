/// The values of JSON that have no parts, and names.
extension GuardedJSONParser {
  mutating func literal() throws(PlainFault) -> JSONLeaf.LeafKind {
    if text.skip("true") || text.skip("false") { return .bool }
    if text.skip("null") { return .null }
    _ = text.skip(UInt8(ascii: "-"))
    guard text.skip(UInt8(ascii: "0")) || skipDigits() else { throw text.malformed("expected a value") }
    if text.skip(UInt8(ascii: ".")) {
      guard skipDigits() else { throw text.malformed("a number that does not end") }
    }
    if text.skip(UInt8(ascii: "e")) || text.skip(UInt8(ascii: "E")) {
      if !text.skip(UInt8(ascii: "+")) { _ = text.skip(UInt8(ascii: "-")) }
      guard skipDigits() else { throw text.malformed("a number that does not end") }
    }
    return .number
  }

  private mutating func skipDigits() -> Bool {
    let start = text.position
    text.skip { (0x30...0x39).contains($0) }
    return text.position > start
  }

  /// Reads a string up to its closing quotation mark, and gives `body` the bytes that it means.
  mutating func string(_ body: (UInt8) -> Void) throws(PlainFault) {
    while let byte = text.take() {
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"): for unit in UTF8.encode(try escape())! { body(unit) }
      case 0..<0x20: throw text.malformed("a control character in a string")
      default: body(byte)
      }
    }
    throw text.malformed("a string that does not end")
  }

  /// A name; `nil` if it is too long for one. Names are in ordinary memory, as in every command.
  mutating func name() throws(PlainFault) -> String? {
    var bytes: [UInt8] = []
    try string { byte in if bytes.count <= InputText.longestName { bytes.append(byte) } }
    return bytes.count <= InputText.longestName ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private mutating func escape() throws(PlainFault) -> Unicode.Scalar {
    switch text.take() {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw text.malformed("an unknown escape")
    }
    let unit = try codeUnit()
    guard (0xD800...0xDBFF).contains(unit) else {
      guard let scalar = Unicode.Scalar(unit) else { throw text.malformed("half a character") }
      return scalar
    }
    guard text.skip("\\u") else { throw text.malformed("half a character") }
    let low = try codeUnit()
    guard (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw text.malformed("half a character") }
    return scalar
  }

  private mutating func codeUnit() throws(PlainFault) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = text.take().flatMap(DecodedText.hexDigit) else { throw text.malformed("an unknown escape") }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }
}
