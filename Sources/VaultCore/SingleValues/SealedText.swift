internal import VaultSealing

/// The text of a sealed value outside a vault (`Docs/Format.md` annex C): `spv-sealed-1:` and unpadded base64url.
enum SealedText {
  private static let prefix = Array("spv-sealed-1:".utf8)
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The value of each digit; 64 for a byte that is not a digit.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// Returns the text of sealed bytes.
  static func write(_ sealed: [UInt8]) -> String {
    var text = prefix
    text.reserveCapacity(prefix.count + (sealed.count * 4 + 2) / 3)
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for byte in sealed {
      bits = bits << 8 | UInt32(byte)
      count = count + 8
      while count >= 6 {
        count -= 6
        text.append(digits[Int(bits >> count & 63)])
      }
    }
    if count > 0 { text.append(digits[Int(bits << (6 - count) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the sealed bytes of a text. Accepts only the spelling that ``write(_:)`` returns.
  ///
  /// - Parameter limit: the maximum number of sealed bytes.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/limitExceeded``.
  static func parse(_ text: RawSpan, limit: Int) throws(VaultError) -> [UInt8] {
    guard text.starts(with: prefix) else {
      throw VaultError(.malformed, "a plain value, where a sealed one is expected")
    }
    let length = text.byteCount - prefix.count
    // Compared in this order, so that no length overflows.
    guard length / 4 <= limit / 3 + 1, length / 4 * 3 + max(length % 4 - 1, 0) <= limit else {
      throw VaultError(.limitExceeded, "a sealed value is longer than the limit")
    }
    var sealed: [UInt8] = []
    sealed.reserveCapacity(length * 3 / 4)
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for index in prefix.count..<text.byteCount {
      let value = values[Int(text.byte(at: index))]
      guard value < 64 else { throw .malformed("the text of a sealed value") }
      bits = bits << 6 | UInt32(value)
      count = count + 6
      if count >= 8 {
        count -= 8
        sealed.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    // Six leftover bits would be a digit too many, and the unused bits of the last digit must be zero.
    guard count < 6, bits & (1 << count - 1) == 0 else { throw .malformed("the text of a sealed value") }
    return sealed
  }
}
