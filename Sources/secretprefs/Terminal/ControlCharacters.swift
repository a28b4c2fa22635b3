/// Bytes that a terminal may execute as commands.
enum ControlCharacters {
  /// Refuses bytes for a terminal that are no text, and warns about control characters. Text is written unchanged.
  static func check(_ bytes: UnsafeRawBufferPointer, _ messages: Messages) throws(ToolError) {
    guard isUTF8(bytes), !bytes.contains(0) else {
      throw .usage("the value is no text, and standard output is a terminal", hint: binary)
    }
    if occur(in: bytes) { messages.warn("the value contains control characters") }
  }

  private static let binary = "\"> <file>\" writes the value to a file, and \"| cat\" to the terminal all the same"

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
