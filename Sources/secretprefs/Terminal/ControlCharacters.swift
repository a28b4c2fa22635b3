/// Bytes that a terminal may execute as commands.
enum ControlCharacters {
  /// Whether `bytes` contains control characters other than line feed and tab.
  static func occur(in bytes: UnsafeRawBufferPointer) -> Bool {
    var previous: UInt8 = 0
    for byte in bytes {
      if byte < 0x20, byte != 0x0A, byte != 0x09 { return true }
      if byte == 0x7F || (previous == 0xC2 && (0x80..<0xA0).contains(byte)) { return true }
      previous = byte
    }
    return false
  }
}
