/// The text form of raw keys (`Docs/Format.md` 2.5): `spv-key-1:` and 64 lower-case hex digits.
public enum KeyText {
  // Not the hexadecimal of `DurableFiles`: the digits of a key stay in guarded memory.
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)
  /// The length without the optional line feed, in bytes.
  public static let count = Form.key.count

  /// One of the texts that consist of a prefix and the 64 digits of 32 bytes.
  package struct Form: Sendable {
    /// A raw key.
    package static let key = Form("a key", prefix: "spv-key-1:")
    /// The secret of a holder by public key (annex G).
    package static let identity = Form("an identity", prefix: "spv-identity-1:")
    /// The public key of a holder (annex G).
    package static let publicKey = Form("a public key", prefix: "spv-public-1:")

    /// With its article.
    package let noun: String
    package let prefix: String
    let start: [UInt8]

    private init(_ noun: String, prefix: String) {
      self.noun = noun
      self.prefix = prefix
      start = Array(prefix.utf8)
    }

    /// The length without the optional line feed, in bytes.
    package var count: Int { start.count + 2 * SealingKey.count }
  }

  /// Parses key text, with or without one line feed at the end.
  /// - Throws: ``VaultError/Code/invalidKeyText``; the message does not include the text. ``VaultError/Code/io`` if the
  ///   system provides no guarded memory.
  public static func parse(_ text: RawSpan) throws(VaultError) -> SealingKey { try parse(text, as: .key) }

  /// Parses text of a form, with or without one line feed at the end.
  /// - Throws: as ``parse(_:)``.
  package static func parse(_ text: RawSpan, as form: Form) throws(VaultError) -> SealingKey {
    let start = form.start
    let key = try unsafe SealingKey(fillingIf: { key in
      unsafe text.withUnsafeBytes { text in
        guard text.count == form.count || (unsafe text.count == form.count + 1 && text[form.count] == 0x0A),
          unsafe text.prefix(start.count).elementsEqual(start)
        else { return false }
        for index in 0..<key.count {
          guard let high = unsafe value(of: text[start.count + 2 * index]),
            let low = unsafe value(of: text[start.count + 2 * index + 1])
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
          unsafe "\(form.noun) is written as \(form.prefix) and 64 lower-case hex digits, and \(fault(of: text, form))"
        })
    }
    return key
  }

  /// What is wrong with text that is no key, without any of it.
  private static func fault(of text: UnsafeRawBufferPointer, _ form: Form) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    if unsafe text.isEmpty { return "this is empty" }
    if unsafe text.starts(with: [0xEF, 0xBB, 0xBF]) { return "this begins with a byte order mark" }
    if unsafe text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) { return "this is UTF-16" }
    if unsafe text.contains(0x0D) { return "this has a carriage return (Windows line ends)" }
    if unsafe isBlank(text[0]) { return "this begins with a blank or an empty line" }
    guard unsafe text.starts(with: form.start) else {
      return unsafe otherForm(of: text).map { "this is \($0)" } ?? "this does not begin with \(form.prefix)"
    }
    let rest = unsafe text.dropFirst(form.start.count).prefix { !isBlank($0) }
    if let wrong = unsafe rest.first(where: { value(of: $0) == nil }) {
      return (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(wrong)
        ? "this has upper-case digits" : "this has a character that is no hex digit"
    }
    if unsafe rest.count != 2 * SealingKey.count { return unsafe "this has \(rest.count) digits" }
    return "this has blanks, empty lines or more text behind the digits"
  }

  /// Which of the other texts of 2.5 this begins like.
  private static func otherForm(of text: UnsafeRawBufferPointer) -> String? {
    let form = [Form.key, .identity, .publicKey].first { unsafe text.starts(with: $0.start) }
    return form.map { $0.prefix == Form.publicKey.prefix ? $0.noun : "\($0.noun), which must stay secret" }
  }

  /// Returns the text of `key` without a line feed, in guarded memory. It is wiped when its owner releases it.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  public static func write(_ key: SealingKey) throws(VaultError) -> SecretBytes { try write(key, as: .key) }

  /// Returns the text of `key` in a form, as ``write(_:)``.
  package static func write(_ key: SealingKey, as form: Form) throws(VaultError) -> SecretBytes {
    let start = form.start
    var text = try SecretBytes(count: form.count)
    unsafe text.withUnsafeMutableBytes { text in
      unsafe text.copyBytes(from: start)
      unsafe key.withUnsafeBytes { key in
        for index in 0..<key.count {
          unsafe text[start.count + 2 * index] = digits[Int(key[index] >> 4)]
          unsafe text[start.count + 2 * index + 1] = digits[Int(key[index] & 15)]
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
