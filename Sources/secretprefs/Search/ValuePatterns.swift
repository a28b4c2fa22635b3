internal import VaultCore
internal import VaultSealing

/// The texts to search for, without the bytes that are ignored, in guarded memory: each value as it is and as
/// ``SpellingDecoder`` writes it, because the value itself may look encoded; and in the forms that cannot be decoded
/// without knowing where they begin.
final class ValuePatterns {
  struct Pattern {
    /// The number that the value was added with.
    let value: Int
    let form: ValueForm
    /// The number of bytes with those that are ignored, from the first to the last that is not.
    let span: Int
    /// The spelling of the value itself.
    let spelling: Spelling
    let bytes: Range<Int>
  }

  /// The length of the shortest value that is searched for, without its line ends. Shorter texts, such as port numbers,
  /// also occur by chance.
  static let minimum = 8

  /// A longer value is searched for in parts of this length.
  static let longestPart = 4096

  /// Whether each line of a value is searched for. Otherwise only long lines without spaces are, such as those of keys.
  private let takesAllLines: Bool
  let buffer: GuardedBuffer
  private(set) var all: [Pattern] = []
  private let decoded: SearchedText
  /// A value's escape sequences may be encoded, too, or be in what a terminal shows.
  private let decoders: [SpellingDecoder]

  init(takesAllLines: Bool) throws(VaultError) {
    self.takesAllLines = takesAllLines
    buffer = try GuardedBuffer()
    decoded = try SearchedText(capacity: SpellingDecoder.growth * Self.longestPart + SpellingDecoder.held)
    decoders = [
      try SpellingDecoder(into: decoded), try SpellingDecoder(into: decoded, dropsSequences: false),
    ]
  }

  /// Adds a value in all its forms.
  /// - Returns: `false` if it is too short.
  func add(_ value: UnsafeRawBufferPointer, as number: Int) throws(VaultError) -> Bool {
    guard Self.isLong(value) else { return false }
    // Parts overlap, so that every base64 digit is determined by one of them.
    for start in stride(from: 0, to: max(value.count - 2, 1), by: Self.longestPart - 2) {
      let end = min(start + Self.longestPart, value.count)
      let part = UnsafeRawBufferPointer(rebasing: value[max(0, end - Self.longestPart)..<end])
      guard Self.isLong(part) else { continue }
      try addText(part, .plain, number)
      try addBase64(part, number)
      for isUpper in [false, true] {
        try add(.hex, number) { () throws(VaultError) in
          for byte in part { try putHex(byte, isUpper: isUpper) }
        }
      }
      try addPrintable(part, number)
      try addWide(part, number)
    }
    try addLines(value, number)
    return true
  }

  private static func isLong(_ value: UnsafeRawBufferPointer) -> Bool {
    value.count(where: { !isLineEnd($0) }) >= minimum && value.count(where: ByteTraits.isKept) >= ValueSearch.window
  }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

  private func add(
    _ form: ValueForm, _ number: Int, span: Int = 0, spelling: Spelling = [], _ write: () throws(VaultError) -> Void
  ) throws(VaultError) {
    let start = buffer.count
    try write()
    let bytes = start..<buffer.count
    guard bytes.count >= ValueSearch.window else { return buffer.truncate(to: start) }
    all.append(Pattern(value: number, form: form, span: span, spelling: spelling, bytes: bytes))
  }

  /// Adds a text as it is, and as it is decoded.
  private func addText(_ text: UnsafeRawBufferPointer, _ form: ValueForm, _ number: Int) throws(VaultError) {
    guard let first = text.firstIndex(where: ByteTraits.isKept) else { return }
    let last = text.lastIndex(where: ByteTraits.isKept)!
    let span = last + 1 - first
    let spelling = Spelling(rawValue: text[first...last].reduce(0) { $0 | ByteTraits.spelling(of: $1) })
    try add(form, number, span: span, spelling: spelling) { () throws(VaultError) in
      for byte in text { try put(byte) }
    }
    guard text.contains(where: ByteTraits.isDecoded) else { return }
    for decoder in decoders {
      decoder.add(text, from: 0)
      decoder.finish()
      try addDecoded(form, number, span, spelling)
    }
    // Where the text is encoded, too, some decoders are needed for that, and only the others decode what it is then.
    for count in 1...decoders[0].depth {
      decoders[0].add(text, after: count)
      try addDecoded(form, number, span, spelling)
    }
  }

  private func addDecoded(
    _ form: ValueForm, _ number: Int, _ span: Int, _ spelling: Spelling
  ) throws(VaultError) {
    try add(form, number, span: span, spelling: spelling) { () throws(VaultError) in
      try decoded.withBytes { (decoded) throws(VaultError) in try buffer.append(decoded) }
    }
    decoded.removeAll()
  }

  private func addLines(_ value: UnsafeRawBufferPointer, _ number: Int) throws(VaultError) {
    guard value.contains(where: Self.isLineEnd) else { return }
    for line in value.split(whereSeparator: Self.isLineEnd) {
      guard line.count >= Self.minimum else { continue }
      guard takesAllLines || line.count >= 20 && !line.contains(UInt8(ascii: " ")) else { continue }
      try addText(UnsafeRawBufferPointer(rebasing: line.prefix(Self.longestPart)), .line, number)
    }
  }

  private func put(_ byte: UInt8) throws(VaultError) {
    if ByteTraits.isKept(byte) { try buffer.append(byte) }
  }

  private func putHex(_ byte: UInt8, isUpper: Bool) throws(VaultError) {
    for digit in [byte >> 4, byte & 15] { try put(digit < 10 ? 0x30 + digit : (isUpper ? 0x37 : 0x57) + digit) }
  }

  /// Adds the digits that the value alone determines, for each number of bytes that may precede it in a group of three.
  private func addBase64(_ bytes: UnsafeRawBufferPointer, _ number: Int) throws(VaultError) {
    for isURL in [false, true] {
      for before in 0..<3 {
        try add(.base64, number) { () throws(VaultError) in
          for digit in (8 * before + 5) / 6..<8 * (before + bytes.count) / 6 {
            let bit = 6 * digit - 8 * before
            let next = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
            let word = UInt16(bytes[bit / 8]) << 8 | next
            try put(SecretOutput.base64Digit(UInt8(word >> (10 - UInt16(bit % 8)) & 63), isURL: isURL))
          }
        }
      }
    }
  }

  /// Adds a text as quoted-printable (RFC 2045, section 6.7), if it differs.
  private func addPrintable(_ text: UnsafeRawBufferPointer, _ number: Int) throws(VaultError) {
    func isPrinted(_ index: Int) -> Bool {
      switch text[index] {
      // A blank is encoded at the end of a line.
      case 0x09, 0x20: index + 1 == text.count || !Self.isLineEnd(text[index + 1])
      case 0x0A, 0x0D: true
      case 0x3D: false
      default: (0x21...0x7E).contains(text[index])
      }
    }
    guard !text.indices.allSatisfy(isPrinted) else { return }
    try add(.printable, number) { () throws(VaultError) in
      for index in text.indices {
        if isPrinted(index) {
          try put(text[index])
        } else {
          try put(0x3D)
          try putHex(text[index], isUpper: true)
        }
      }
    }
  }

  /// Adds a text as UTF-16, in both orders of its bytes, if it begins in ASCII or beyond U+00BF: as UTF-16, the others
  /// end as they do in UTF-8. Characters of ASCII have a NUL besides, which is ignored, so that a text of these alone
  /// needs no pattern. A part of a long value that begins or ends within a character has none.
  private func addWide(_ text: UnsafeRawBufferPointer, _ number: Int) throws(VaultError) {
    guard text.contains(where: { $0 >= 0x80 }), text.first(where: ByteTraits.isKept) != 0xC2, isUTF8(text) else {
      return
    }
    for isBigEndian in [false, true] {
      try add(.plain, number) { () throws(VaultError) in
        var bytes = text.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        while case .valid(let encoded) = parser.parseScalar(from: &bytes) {
          for unit in Unicode.UTF16.encode(Unicode.UTF8.decode(encoded))! {
            try put(UInt8(truncatingIfNeeded: isBigEndian ? unit >> 8 : unit))
            try put(UInt8(truncatingIfNeeded: isBigEndian ? unit : unit >> 8))
          }
        }
      }
    }
  }
}
