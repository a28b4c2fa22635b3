internal import VaultCore
internal import VaultSealing

/// An `otpauth` URI in a value. Its parameters are parts of the value, which is not copied.
struct OneTimeURI {
  typealias Part = Slice<UnsafeRawBufferPointer>

  let type: Part
  private let parameters: [Part]

  /// `nil` if no line of `value` begins with `otpauth://`.
  init?(in value: UnsafeRawBufferPointer) {
    let scheme = "otpauth://"
    guard let line = value.split(separator: 0x0A).first(where: { matches($0.prefix(scheme.utf8.count), scheme) })
    else { return nil }
    let uri = trimmed(line.dropFirst(scheme.utf8.count)).prefix { $0 != UInt8(ascii: "#") }
    type = uri.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    parameters = uri.drop { $0 != UInt8(ascii: "?") }.dropFirst().split(separator: UInt8(ascii: "&"))
  }

  /// The value of a parameter; `nil` if it is missing or empty.
  func parameter(_ name: String) throws(ToolError) -> Part? {
    let found = parameters.filter { matches($0.prefix { $0 != UInt8(ascii: "=") }, name) }
    guard found.count <= 1 else { throw .oneTime("a parameter of the otpauth URI occurs twice") }
    guard let value = found.first?.drop(while: { $0 != UInt8(ascii: "=") }).dropFirst(), !value.isEmpty else {
      return nil
    }
    return value
  }

  /// The value of a parameter that is a number in `range`; `nil` if it is missing.
  func number(_ name: String, in range: ClosedRange<UInt64>) throws(ToolError) -> UInt64? {
    guard let text = try parameter(name) else { return nil }
    var number: UInt64? = 0
    for byte in text {
      let digit = byte &- UInt8(ascii: "0")
      let (product, isLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = product.addingReportingOverflow(UInt64(digit))
      number = number == nil || digit > 9 || isLarge || isLarger ? nil : sum
    }
    guard let number, range.contains(number) else {
      throw .oneTime(
        "the parameter \(name) of the otpauth URI is not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

/// Base32 as people copy it.
enum Base32 {
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

/// Removes spaces, tabs and carriage returns at both ends, and line feeds.
func trimmed(_ text: OneTimeURI.Part) -> OneTimeURI.Part {
  func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
  let start = text.drop(while: isSpace)
  return start[..<(start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex)]
}

/// Whether `text` is `word`, in any case of its ASCII letters.
func matches(_ text: some Sequence<UInt8>, _ word: String) -> Bool {
  func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
  return text.lazy.map(lowercase).elementsEqual(word.utf8.lazy.map(lowercase))
}

extension ToolError {
  /// A value that no one-time code can be made of.
  static func oneTime(_ message: String) -> ToolError {
    ToolError(
      VaultError(.typeMismatch, message),
      hint: "store the text of the QR code, which begins with otpauth://, or the secret in base32")
  }
}
