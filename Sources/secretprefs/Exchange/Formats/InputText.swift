internal import Preferences

/// A text to import, read from front to back.
///
/// The parsers of this folder decode values in place: a decoded value is never longer than its spelling, so all of them
/// stay in the one guarded buffer that the file was read into. A library's parser would leave them in strings and
/// arrays that are not wiped.
struct InputText {
  /// The longest key, and so the longest name that can be a part of one.
  static let longestName = PreferenceName.maximumByteCount

  private static let longestURL = 4096

  let bytes: UnsafeMutableRawBufferPointer
  private(set) var position = 0
  /// The number of the present line, from 1.
  private(set) var line = 1

  /// Starts after a byte order mark.
  init(_ bytes: UnsafeMutableRawBufferPointer) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// Starts at `position`, where a part of the text was found.
  init(_ bytes: UnsafeMutableRawBufferPointer, from position: Int) {
    self.bytes = bytes
    self.position = position
  }

  /// The number of the line that was read last. A line feed belongs to the line that it ends.
  var lastLine: Int { position > 0 && bytes[position - 1] == UInt8(ascii: "\n") ? max(line - 1, 1) : line }

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func take() -> UInt8? {
    guard let byte = next else { return nil }
    position += 1
    if byte == UInt8(ascii: "\n") { line += 1 }
    return byte
  }

  mutating func skip(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    _ = take()
    return true
  }

  /// Skips `text`, which has no line feed, if it is next.
  mutating func skip(_ text: StaticString) -> Bool {
    let isNext = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    if isNext { position += text.utf8CodeUnitCount }
    return isNext
  }

  mutating func skip(while isSkipped: (UInt8) -> Bool) {
    while let next, isSkipped(next) { _ = take() }
  }

  /// Whether LF or CR LF is next.
  var isAtLineEnd: Bool {
    next == UInt8(ascii: "\n")
      || next == UInt8(ascii: "\r") && position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "\n")
  }

  /// Skips LF or CR LF; false if neither is next.
  mutating func skipLineEnd() -> Bool {
    guard isAtLineEnd else { return false }
    _ = skip(UInt8(ascii: "\r"))
    return skip(UInt8(ascii: "\n"))
  }

  /// A name. Names are in ordinary memory, as in every command.
  func name(_ range: Range<Int>) throws(PlainFault) -> String {
    guard range.count <= Self.longestName else {
      throw .limit("a name of more than \(Self.longestName) bytes", line: line)
    }
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw malformed("a name that is not UTF-8")
    }
    return text
  }

  /// A name, or so much of one that is too long that the key with it is refused, and named.
  func cutName(_ range: Range<Int>) throws(PlainFault) -> String {
    guard range.count > Self.longestName else { return try name(range) }
    return String(decoding: bytes[range.prefix(Self.longestName + 1)], as: UTF8.self)
  }

  /// The host and port in a URL, which are in its first bytes.
  static func host(of url: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> String {
    let text = String(decoding: bytes[url.prefix(longestURL)], as: UTF8.self)
    var rest = text[...]
    if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
    rest = rest.prefix { !"/?#".contains($0) }
    if let user = rest.lastIndex(of: "@") { rest = rest[rest.index(after: user)...] }
    return String(rest)
  }

  func malformed(_ what: String, line: Int? = nil) -> PlainFault {
    PlainFault(line: line ?? self.line, reason: what)
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
  static func isSpace(_ byte: UInt8) -> Bool {
    isBlank(byte) || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }
}

/// Whether a line of a value, after the first, meets a condition. Makes no list of the lines, which may be very many.
func hasLaterLine(
  _ value: Range<Int>, in bytes: UnsafeMutableRawBufferPointer,
  _ meets: (Slice<UnsafeMutableRawBufferPointer>) -> Bool
) -> Bool {
  let lineFeed = UInt8(ascii: "\n")
  var rest = bytes[value]
  while let end = rest.firstIndex(of: lineFeed) {
    rest = rest[(end + 1)...]
    if meets(rest.prefix { $0 != lineFeed }) { return true }
  }
  return false
}

/// Whether `bytes` are UTF-8. Makes no copy.
func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
  bytes.withMemoryRebound(to: UInt8.self) { bytes in
    do {
      _ = try UTF8Span(validating: bytes.span)
      return true
    } catch { return false }
  }
}

/// Decodings in place. The result begins where `range` does; `nil` if the text is not valid.
enum DecodedText {
  /// Base64 with or without padding.
  static func base64(_ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Range<Int>? {
    var (end, word, bits) = (range.lowerBound, UInt32(0), 0)
    let padding = bytes[range].reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2, padding == 0 || range.count % 4 == 0, (range.count - padding) % 4 != 1 else { return nil }
    for index in range.dropLast(padding) {
      guard let digit = base64Digit(bytes[index]) else { return nil }
      word = word << 6 | digit
      bits = bits + 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes[end] = UInt8(truncatingIfNeeded: word >> UInt32(bits))
      end += 1
    }
    return range.lowerBound..<end
  }

  /// Base64 as Go reads it: with padding, and line ends in it do not count.
  static func goBase64(_ text: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Range<Int>? {
    var end = text.lowerBound
    for index in text where bytes[index] != UInt8(ascii: "\r") && bytes[index] != UInt8(ascii: "\n") {
      bytes[end] = bytes[index]
      end += 1
    }
    guard (end - text.lowerBound).isMultiple(of: 4) else { return nil }
    return base64(text.lowerBound..<end, in: bytes)
  }

  /// Hexadecimal digits, two for each byte.
  static func hex(_ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Range<Int>? {
    guard range.count.isMultiple(of: 2) else { return nil }
    var end = range.lowerBound
    for index in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
      guard let high = hexDigit(bytes[index]), let low = hexDigit(bytes[index + 1]) else { return nil }
      bytes[end] = high << 4 | low
      end += 1
    }
    return range.lowerBound..<end
  }

  /// Percent-encoding; `+` stands for itself.
  static func percent(_ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Range<Int>? {
    var (end, index) = (range.lowerBound, range.lowerBound)
    while index < range.upperBound {
      var byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 <= range.upperBound, let high = hexDigit(bytes[index]), let low = hexDigit(bytes[index + 1])
        else { return nil }
        byte = high << 4 | low
        index = index + 2
      }
      bytes[end] = byte
      end += 1
    }
    return range.lowerBound..<end
  }

  /// Percent-encoding as git decodes it: `%00`, and a percent sign without two digits, stand for themselves, and so
  /// does all that is in front of the first colon, which git takes for the scheme of a URL.
  static func gitPercent(_ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Range<Int> {
    let colon = bytes[range].firstIndex(of: UInt8(ascii: ":")) ?? range.lowerBound
    var (end, index) = (colon, colon)
    while index < range.upperBound {
      var byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "%"), index + 2 <= range.upperBound, let high = hexDigit(bytes[index]),
        let low = hexDigit(bytes[index + 1]), high | low != 0
      {
        byte = high << 4 | low
        index += 2
      }
      bytes[end] = byte
      end += 1
    }
    return range.lowerBound..<end
  }

  static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func base64Digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
