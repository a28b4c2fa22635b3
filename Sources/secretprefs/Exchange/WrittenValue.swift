internal import FoundationEssentials
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// A value as the members `kind` and `value` or `base64` of a JSON object, from which it is read back byte for byte.
enum WrittenValue {
  static func write(_ kind: ValueKind, _ bytes: RawSpan, to output: SecretOutput) throws {
    try bytes.withUnsafeBytes { bytes in
      try output.write("\"kind\":\(JSON.string(kind.label).text),")
      try withText(kind, bytes) { isText, bytes in
        try output.write(isText ? "\"value\":" : "\"base64\":\"")
        if isText { try output.writeJSON(kind, bytes) } else { try output.writeBase64(bytes) }
        if !isText { try output.write("\"") }
      }
    }
  }

  /// Lends the bytes to write, and whether they are text. JSON that would not be the same when it is read, a date
  /// without an exact text, a number that is none and a URL that is none are lent as they are stored.
  private static func withText(
    _ kind: ValueKind, _ bytes: UnsafeRawBufferPointer, _ body: (Bool, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    switch kind {
    case .json where try !isOneLine(bytes) || !TypedText.canBeNested(bytes): try body(false, bytes)
    case .url where try TypedText.kind(.url, of: bytes.bytes) == nil: try body(false, bytes)
    case .double where Double(bitPattern: word(bytes)).isNaN: try body(false, bytes)
    case .date:
      let seconds = Double(bitPattern: word(bytes))
      guard let text = PreferenceTimestamp.exactText(Date(timeIntervalSinceReferenceDate: seconds)) else {
        return try body(false, bytes)
      }
      try Array(text.utf8).withUnsafeBytes { try body(true, $0) }
    default: try ValueText.withText(kind, bytes, body)
    }
  }

  private static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
  }

  /// Whether the bytes are in one line, without blanks around it.
  private static func isOneLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, let last = bytes.last else { return false }
    return !InputText.isSpace(first) && !InputText.isSpace(last) && !bytes.contains(UInt8(ascii: "\n"))
      && !bytes.contains(UInt8(ascii: "\r"))
  }
}
