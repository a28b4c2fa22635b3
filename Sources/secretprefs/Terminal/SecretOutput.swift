internal import VaultCore
internal import VaultSealing

/// Writes encoded secrets to standard output or a file through a small buffer in guarded memory, or collects them
/// there.
final class SecretOutput {
  private static let limit = 4096
  private let buffer: GuardedBuffer
  private let isCollecting: Bool
  /// Where the bytes go, and what to call that in errors; `nil` for standard output.
  private let file: (descriptor: Int32, step: String)?

  /// - Parameters:
  ///   - isCollecting: whether the buffer grows until ``withBytes(_:)``, instead of being written when it is full.
  ///   - file: where the bytes go, and what to call that in errors; `nil` for standard output.
  init(isCollecting: Bool = false, to file: (descriptor: Int32, step: String)? = nil) throws(VaultError) {
    buffer = try GuardedBuffer()
    self.isCollecting = isCollecting
    self.file = file
  }

  /// The number of bytes that have been collected.
  var count: Int { buffer.count }

  /// Drops what has been collected after the first `count` bytes.
  func truncate(to count: Int) { buffer.truncate(to: count) }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ToolError) {
    for byte in bytes { try put(byte) }
  }

  func write(_ text: String) throws(ToolError) {
    for byte in text.utf8 { try put(byte) }
  }

  /// Writes an object that other members follow: without its end.
  func writeOpen(_ members: [(String, JSON)]) throws(ToolError) {
    try write(String(JSON.object(members).text.dropLast()))
  }

  /// Writes UTF-8 as the contents of a JSON string.
  func writeEscaped(_ text: UnsafeRawBufferPointer) throws(ToolError) {
    var previous: UInt8 = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        try put(UInt8(ascii: "\\"))
        try put(byte)
      case 0x00..<0x20, 0x7F: try escape(byte)
      case 0xC2: break  // deferred: terminals execute U+0080 to U+009F
      default:
        if previous == 0xC2 {
          if byte < 0xA0 {
            try escape(byte)
            break
          }
          try put(previous)
        }
        try put(byte)
      }
      previous = byte
    }
  }

  /// Writes the bytes that `get` writes of a value as JSON: numbers, Booleans and JSON as they are, and other text as a
  /// string. A program can store any text as JSON, and one that is none would end the document or add members to it.
  func writeJSON(_ kind: ValueKind, _ value: UnsafeRawBufferPointer) throws {
    switch kind {
    // A double that JSON has no number for is a word.
    case .double where !(value.last.map { (0x30...0x39).contains($0) } ?? false): break
    case .json where try !TypedText.canBeNested(value): break
    case .bool, .integer, .unsignedInteger, .double, .json:
      return try write(value)
    default: break
    }
    try write("\"")
    try writeEscaped(value)
    try write("\"")
  }

  func writeBase64(_ bytes: UnsafeRawBufferPointer) throws(ToolError) {
    var start = 0
    while start < bytes.count {
      let length = min(3, bytes.count - start)
      var word: UInt32 = 0
      for index in 0..<3 { word = word << 8 | (index < length ? UInt32(bytes[start + index]) : 0) }
      for index in 0..<4 {
        try put(index <= length ? Self.base64Digit(UInt8(word >> (18 - 6 * UInt32(index)) & 63)) : UInt8(ascii: "="))
      }
      start += 3
    }
  }

  func flush() throws(ToolError) {
    try withBytes { (bytes) throws(ToolError) in
      guard let file else { return try Output.write(bytes) }
      try writeAll(bytes, to: file.descriptor, file.step)
    }
    buffer.truncate(to: 0)
  }

  /// Lends what has been collected.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try buffer.withUnsafeBytes(body)
  }

  func put(_ byte: UInt8) throws(ToolError) {
    if !isCollecting, buffer.count == Self.limit { try flush() }
    do throws(VaultError) { try buffer.append(byte) } catch { throw ToolError(error) }
  }

  private func escape(_ byte: UInt8) throws(ToolError) {
    try write("\\u00")
    for digit in [byte >> 4, byte & 15] { try put(digit < 10 ? 0x30 + digit : 0x57 + digit) }
  }

  static func base64Digit(_ value: UInt8, isURL: Bool = false) -> UInt8 {
    switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + value - 26
    case 52..<62: UInt8(ascii: "0") + value - 52
    case 62: UInt8(ascii: isURL ? "-" : "+")
    default: UInt8(ascii: isURL ? "_" : "/")
    }
  }
}
