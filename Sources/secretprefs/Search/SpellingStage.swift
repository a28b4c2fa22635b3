/// A decoder of ``SpellingDecoder``. It passes on what it does not decode.
protocol SpellingStage: AnyObject {
  /// Whether it and the later stages hold no beginning of an escape.
  var isIdle: Bool { get }
  /// Where the first byte begins that it or a later stage holds back, modulo 2^32.
  var pending: UInt32? { get }

  func take(_ spelled: SpelledByte)

  /// Passes on everything, at the end of the text.
  func finish()
}

extension SpellingStage {
  /// Takes a character as its bytes in UTF-8; also half of a pair of UTF-16.
  func take(_ scalar: UInt32, spelledAs spelled: SpelledByte) {
    let count: UInt32 = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
    var spelled = spelled
    for index in 0..<count {
      let bits = UInt8(truncatingIfNeeded: scalar >> (6 * (count - 1 - index)))
      spelled.byte = index > 0 ? bits & 0x3F | 0x80 : count == 1 ? bits : bits | 0xF0 << UInt8(4 - count)
      take(spelled)
    }
  }
}
