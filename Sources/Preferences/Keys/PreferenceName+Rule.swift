// The rule for names.

extension PreferenceName {
  /// Checks that `name` follows the rule; the same in debug and release builds.
  static func validate(_ name: String) throws(PreferencesError) {
    let bytes = name.utf8Span.span
    guard !bytes.isEmpty else { throw PreferencesError(.invalidKey, "the key is empty") }
    guard bytes.count <= maximumByteCount else {
      throw PreferencesError(.invalidKey, "the key has \(bytes.count) bytes, more than \(maximumByteCount)")
    }
    guard !hasControlCharacter(bytes) else {
      throw PreferencesError(.invalidKey, "key \"\(name)\": control characters are not allowed")
    }
  }

  static func isValid(_ name: String) -> Bool {
    do {
      try validate(name)
      return true
    } catch {
      return false
    }
  }

  // Reads eight bytes at a time: checking one character at a time took a sixth of the time of a composite's lookup by
  // name.
  private static func hasControlCharacter(_ bytes: Span<UInt8>) -> Bool {
    let words = bytes.count / 8
    for word in 0..<words {
      let eight = bytes.bytes.unsafeLoadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
      if mayHaveControlCharacter(eight) { return hasControlCharacter(bytes, from: 0) }
    }
    return hasControlCharacter(bytes, from: words * 8)
  }

  private static func hasControlCharacter(_ bytes: Span<UInt8>, from start: Int) -> Bool {
    for index in start..<bytes.count {
      let byte = bytes[index]
      // U+0080 to U+009F are C2 80 to C2 9F.
      let isSecondOfTwo = (0x80..<0xA0).contains(byte) && index > 0 && bytes[index - 1] == 0xC2
      if byte < 0x20 || byte == 0x7F || isSecondOfTwo { return true }
    }
    return false
  }

  /// Whether one of eight bytes is below 0x20, or is 0x7F or 0xC2. May also return true for other bytes.
  private static func mayHaveControlCharacter(_ word: UInt64) -> Bool {
    let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    func hasByte(below limit: UInt64, _ word: UInt64) -> Bool { (word &- ones &* limit) & ~word & highs != 0 }
    return hasByte(below: 0x20, word) || hasByte(below: 1, word ^ ones &* 0x7F)
      || hasByte(below: 1, word ^ ones &* 0xC2)
  }
}
