/// Percent-encoding (RFC 3986, 2.1).
package enum PercentEncoding {
  /// Encodes all bytes but letters, digits and `marks`.
  package static func encoded(_ bytes: some Sequence<UInt8>, keeping marks: String) -> String {
    var text = ""
    for byte in bytes {
      if isWord(byte) || marks.utf8.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }

  /// Whether a byte is a letter or a digit of ASCII.
  package static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39: true
    default: false
    }
  }
}
