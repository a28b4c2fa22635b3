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

/// How each byte is compared. Quoting adds and removes quotes, backslashes, the `$` of `$'…'` and the `^` of cmd.exe,
/// formatting changes blanks, a pager writes a blank and a backspace where the screen ends, forms have `+` for a space,
/// quoted-printable has `=` before a line end, and UTF-16 has NULs: values and texts are compared without these.
enum ByteTraits {
  /// The byte is compared.
  static let isKept: UInt8 = 1
  /// The byte may begin an escape, whose meaning is not known before it ends.
  static let mayBeginEscape: UInt8 = 2
  /// The byte may be within a character beyond ASCII. Ignored bytes may be, except NUL: in UTF-16 it follows each
  /// character of Latin-1.
  static let mayContinue: UInt8 = 32
  /// The byte may begin a character beyond ASCII: ``mayContinue`` is half of this.
  static let mayBeginCharacter: UInt8 = 64
  /// The bits of ``Spelling`` that a byte itself can have.
  static let spelling: UInt8 = 28

  static let all: [UInt8] = (0...UInt8.max).map { byte in
    switch byte {
    case 0: 0
    case 0x08...0x0D, 0x20, UInt8(ascii: "+"), UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "^"): mayContinue
    case UInt8(ascii: "\\"): mayContinue | mayBeginEscape | Spelling.backslash.rawValue
    case UInt8(ascii: "'"), UInt8(ascii: "`"): mayContinue | Spelling.singleQuote.rawValue
    case UInt8(ascii: "\""): mayContinue | Spelling.doubleQuote.rawValue
    case 0x1B, UInt8(ascii: "%"), UInt8(ascii: "&"): isKept | mayContinue | mayBeginEscape
    case 0x80...0xBF: isKept | mayContinue
    case 0xC2...0xF4: isKept | mayBeginCharacter
    default: isKept
    }
  }

  static func spelling(of byte: UInt8) -> UInt8 { all[Int(byte)] & spelling }

  static func isKept(_ byte: UInt8) -> Bool { all[Int(byte)] & isKept != 0 }

  /// Whether the byte may begin an escape, or belongs to a character beyond ASCII, for ``SpellingDecoder``.
  static func isDecoded(_ byte: UInt8) -> Bool { byte >= 0x80 || all[Int(byte)] & mayBeginEscape != 0 }

  /// Whether a character beyond ASCII does not go on after the byte, once it is known that no escape begins with it.
  static func endsCharacter(_ byte: UInt8) -> Bool { all[Int(byte)] & (isKept | mayContinue) != mayContinue }
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
