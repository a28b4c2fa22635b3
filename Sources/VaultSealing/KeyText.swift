/// The text form of raw keys (`Docs/Format.md` 2.5): `spv-key-1:` and 64 lower-case hex digits.
public enum KeyText {
  private static let prefix: [UInt8] = Array("spv-key-1:".utf8)
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)
  /// The length without the optional line feed, in bytes.
  public static let count = 74

  /// Parses key text, with or without one line feed at the end.
  /// - Throws: ``VaultError/Code/invalidKeyText``; the message does not include the text. ``VaultError/Code/io`` if the
  ///   system provides no guarded memory.
  public static func parse(_ text: RawSpan) throws(VaultError) -> SealingKey {
    let key = try unsafe SealingKey(fillingIf: { key in
      unsafe text.withUnsafeBytes { text in
        guard text.count == count || (unsafe text.count == count + 1 && text[count] == 0x0A),
          unsafe text.prefix(prefix.count).elementsEqual(prefix)
        else { return false }
        for index in 0..<key.count {
          guard let high = unsafe value(of: text[prefix.count + 2 * index]),
            let low = unsafe value(of: text[prefix.count + 2 * index + 1])
          else { return false }
          unsafe key[index] = high << 4 | low
        }
        return true
      }
    })
    guard let key else {
      throw VaultError(.invalidKeyText, "a key is written as spv-key-1: and 64 lower-case hex digits")
    }
    return key
  }

  /// Returns the text of `key` without a line feed, in guarded memory. It is wiped when its owner releases it.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  public static func write(_ key: SealingKey) throws(VaultError) -> SecretBytes {
    var text = try SecretBytes(count: count)
    unsafe text.withUnsafeMutableBytes { text in
      unsafe text.copyBytes(from: prefix)
      unsafe key.withUnsafeBytes { key in
        for index in 0..<key.count {
          unsafe text[prefix.count + 2 * index] = digits[Int(key[index] >> 4)]
          unsafe text[prefix.count + 2 * index + 1] = digits[Int(key[index] & 15)]
        }
      }
    }
    return text
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
