/// What is special in the spelling of a byte, or between it and the byte before.
struct Spelling: OptionSet, BitwiseCopyable {
  let rawValue: UInt8

  static let backslash = Spelling(rawValue: 4)
  static let singleQuote = Spelling(rawValue: 8)
  static let doubleQuote = Spelling(rawValue: 16)
  static let percent = Spelling(rawValue: 32)
  static let entity = Spelling(rawValue: 64)
  /// A backslash that JSON does not have.
  static let escape = Spelling(rawValue: 128)
}

/// One byte of a text, and the place where it is spelled, perhaps with several bytes.
struct SpelledByte: BitwiseCopyable {
  var byte: UInt8
  var spelling: Spelling
  /// The place of its first byte in the text, modulo 2^32.
  var start: UInt32
  /// The place after its last byte.
  var end: UInt32
}

/// How each byte is compared. Quoting adds and removes quotes and backslashes, formatting changes blanks, forms have
/// `+` for a space, and UTF-16 has NULs: values and texts are compared without these.
enum ByteTraits {
  /// The byte is compared.
  static let isKept: UInt8 = 1
  /// The byte may begin an escape, or a character beyond ASCII, for ``SpellingDecoder``.
  static let isIntroducer: UInt8 = 2
  /// The bits of ``Spelling``.
  static let spelling: UInt8 = 0xFC

  static let all: [UInt8] = (0...UInt8.max).map { byte in
    switch byte {
    case 0, 0x09...0x0D, 0x20, UInt8(ascii: "+"): 0
    case UInt8(ascii: "\\"): isIntroducer | Spelling.backslash.rawValue
    case UInt8(ascii: "'"), UInt8(ascii: "`"): Spelling.singleQuote.rawValue
    case UInt8(ascii: "\""): Spelling.doubleQuote.rawValue
    case 0x1B, UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "$"), 0x80...: isKept | isIntroducer
    default: isKept
    }
  }

  static func spelling(of byte: UInt8) -> UInt8 { all[Int(byte)] & spelling }

  static func isIntroducer(_ byte: UInt8) -> Bool { all[Int(byte)] & isIntroducer != 0 }

  static func isKept(_ byte: UInt8) -> Bool { all[Int(byte)] & isKept != 0 }

  /// Whether the byte may begin an escape whose meaning is not known before it ends.
  static func mayBeginEscape(_ byte: UInt8) -> Bool { byte < 0x80 && isIntroducer(byte) }

  /// Whether a character beyond ASCII does not go on after the byte. Ignored bytes may be within one, except NUL: in
  /// UTF-16 it follows each character of Latin-1.
  static func endsCharacter(_ byte: UInt8) -> Bool { isKept(byte) || byte == 0 }
}

/// The value of a hexadecimal digit.
func hexadecimal(_ digit: UInt8) -> UInt8? {
  switch digit {
  case 0x30...0x39: digit - 0x30
  case 0x41...0x46: digit - 0x37
  case 0x61...0x66: digit - 0x57
  default: nil
  }
}
