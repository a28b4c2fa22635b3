/// A form of a value that `scan` finds and `run --mask` hides.
///
/// Line feeds and carriage returns are ignored in values and in the searched text, so that a form is recognised also if
/// it is wrapped at some width, and on a terminal, which adds carriage returns.
enum ValueForm: String, CaseIterable {
  /// The bytes themselves.
  case plain
  /// One line of a value that has several.
  case line
  /// Base64 in the standard alphabet or that of URLs, wherever the value begins in the encoded bytes. Without the
  /// digits that also depend on other bytes; these have up to four bits of the value's first and last byte.
  case base64
  /// The percent-encodings of RFC 3986, of Python, of JavaScript's `encodeURIComponent` and of HTML forms, and that of
  /// every byte; with digits in upper or lower case.
  case percent
  /// Two digits for each byte, all in upper or all in lower case.
  case hex
  /// As the contents of a JSON string: with and without escapes for `/`, for the characters of HTML that common encoders
  /// escape, for everything beyond ASCII, and for all control characters.
  case json
}

/// The characters that a percent-encoder leaves unchanged.
enum PercentStyle: CaseIterable {
  case strict, path, component, form, full

  /// Whether a byte is left unchanged.
  func keeps(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      self != .full
    case UInt8(ascii: "~"): [.strict, .path, .component].contains(self)
    case UInt8(ascii: "/"): self == .path
    case UInt8(ascii: "*"): self == .component || self == .form
    case UInt8(ascii: "!"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"): self == .component
    default: false
    }
  }
}

/// The characters that a JSON encoder escapes.
struct JSONStyle {
  let escapesSlash: Bool
  /// The characters of HTML that are escaped with digits.
  let markup: String
  let isASCII: Bool
  /// Whether line feeds and tabs have short escapes.
  let isShort: Bool
  let isUpper: Bool

  /// Those of Go, of PHP with each of its options, of Gson, and of .NET.
  private static let markups = ["", "<>&", "<>&'", "<>&'\"", "\"", "<>&'=", "<>&'+", "<>&'+`\""]

  /// The styles that differ for a text.
  static func all(for text: UnsafeRawBufferPointer) -> [JSONStyle] {
    let present = markups.map { markup in String(markup.filter { text.contains($0.asciiValue!) }) }
    var styles: [JSONStyle] = []
    for markup in Set(present) {
      for bits in 0..<16 {
        styles.append(
          JSONStyle(
            escapesSlash: bits & 1 != 0, markup: markup, isASCII: bits & 2 != 0, isShort: bits & 4 != 0,
            isUpper: bits & 8 != 0))
      }
    }
    return styles
  }

  /// The characters that a style may escape, besides control characters and those beyond ASCII.
  static let escapable = Set(("\\/" + markups.joined()).utf8)

  /// The letter of a short escape, or 0 for an escape with digits. `nil` for a character that is left as it is.
  func escape(_ scalar: Unicode.Scalar) -> UInt8? {
    switch scalar {
    case _ where markup.unicodeScalars.contains(scalar): 0
    case "\"", "\\": UInt8(scalar.value)
    case "/": escapesSlash ? UInt8(ascii: "/") : nil
    case "\n" where isShort: UInt8(ascii: "n")
    case "\r" where isShort: UInt8(ascii: "r")
    case "\t" where isShort: UInt8(ascii: "t")
    case "\u{8}" where isShort: UInt8(ascii: "b")
    case "\u{C}" where isShort: UInt8(ascii: "f")
    case "\u{7F}"..."\u{9F}": isShort && !isASCII ? nil : 0
    default: scalar.value < 0x20 || isASCII && scalar.value > 0x7F ? 0 : nil
    }
  }
}
