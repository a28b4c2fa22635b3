internal import VaultCore
internal import VaultSealing

/// Base32 as people copy it.
enum Base32 {
  /// How many digits as many bytes have, without padding.
  static func count(of byteCount: Int) -> Int { (byteCount * 8 + 4) / 5 }

  /// The digits of `bytes`, without padding.
  static func encode(_ bytes: RawSpan) throws(VaultError) -> SecretBytes {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var text = try SecretBytes(count: count(of: bytes.byteCount))
    text.withUnsafeMutableBytes { text in
      var (end, word, bits) = (0, UInt32(0), 0)
      for index in bytes.byteOffsets {
        word = word << 8 | UInt32(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
        bits += 8
        while bits >= 5 {
          bits -= 5
          text[end] = digits[Int(word >> UInt32(bits) & 31)]
          end += 1
        }
      }
      if bits > 0 { text[end] = digits[Int(word << UInt32(5 - bits) & 31)] }
    }
    return text
  }

  /// Decodes text of any case, with or without spaces, dashes and padding, each of which may be percent-encoded. Bits
  /// that are no whole byte are dropped. `nil` if other characters occur.
  static func decode(_ text: OneTimeURI.Part) throws(VaultError) -> SecretBytes? {
    var bytes = try SecretBytes(count: text.count * 5 / 8 + 1)
    var (count, word, bits, isPadded) = (0, 0 as UInt32, 0, false)
    var rest = text
    while var byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.popFirst().flatMap(DecodedText.hexDigit),
          let low = rest.popFirst().flatMap(DecodedText.hexDigit)
        else { return nil }
        byte = high << 4 | low
      }
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a")
      case UInt8(ascii: "2")...UInt8(ascii: "7"): digit = byte - UInt8(ascii: "2") + 26
      case UInt8(ascii: " "), UInt8(ascii: "+"), UInt8(ascii: "-"): continue
      case UInt8(ascii: "="):
        isPadded = true
        continue
      default: return nil
      }
      guard !isPadded else { return nil }
      word = word << 5 | UInt32(digit)
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.withUnsafeMutableBytes { $0[count] = UInt8(truncatingIfNeeded: word >> UInt32(bits)) }
        count += 1
      }
    }
    return try bytes.prefix(count)
  }
}
