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
      throw VaultError(
        .invalidKeyText,
        unsafe text.withUnsafeBytes { text in
          unsafe "a key is written as spv-key-1: and 64 lower-case hex digits, and \(fault(of: text))"
        })
    }
    return key
  }

  /// What is wrong with text that is no key, without any of it.
  private static func fault(of text: UnsafeRawBufferPointer) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    if unsafe text.isEmpty { return "this is empty" }
    if unsafe text.starts(with: [0xEF, 0xBB, 0xBF]) { return "this begins with a byte order mark" }
    if unsafe text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) { return "this is UTF-16" }
    if unsafe text.contains(0x0D) { return "this has a carriage return (Windows line ends)" }
    if unsafe isBlank(text[0]) { return "this begins with a blank or an empty line" }
    guard unsafe text.starts(with: prefix) else { return "this does not begin with spv-key-1:" }
    let rest = unsafe text.dropFirst(prefix.count).prefix { !isBlank($0) }
    if let wrong = unsafe rest.first(where: { value(of: $0) == nil }) {
      return (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(wrong)
        ? "this has upper-case digits" : "this has a character that is no hex digit"
    }
    if unsafe rest.count != count - prefix.count { return unsafe "this has \(rest.count) digits" }
    return "this has blanks, empty lines or more text behind the key"
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
