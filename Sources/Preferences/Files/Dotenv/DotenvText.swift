/// Writes the value of a dotenv file.
package enum DotenvText {
  /// Writes `text`, byte by byte, in the form that most programs read alike: without quotes if it needs none, in single
  /// quotes if it contains neither a single quote nor a carriage return, else in double quotes: readers take CR LF
  /// inside quotes for the line ending of the file. The text must not contain NUL.
  package static func write<E: Error>(
    _ text: UnsafeRawBufferPointer, to output: (UInt8) throws(E) -> Void
  ) throws(E) {
    let needsQuotes = !text.allSatisfy(needsNoQuotes)
    let isDouble = text.contains { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\r") }
    let quote = UInt8(ascii: isDouble ? "\"" : "'")
    if needsQuotes { try output(quote) }
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
        if isDouble { try output(UInt8(ascii: "\\")) }
      case UInt8(ascii: "\r"):
        try output(UInt8(ascii: "\\"))
        try output(UInt8(ascii: "r"))
        continue
      default: break
      }
      try output(byte)
    }
    if needsQuotes { try output(quote) }
  }

  private static func needsNoQuotes(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-./:@%+,=".utf8.contains(byte)
    }
  }
}
