internal import VaultCore
internal import VaultSealing

/// How a file spells a value, and so the kind that it gets.
enum PlainSpelling: Equatable {
  /// The value is the bytes of the file: text, or data if they are not UTF-8.
  case text
  /// Text of a value of this kind, as `secretprefs get` writes it.
  case kind(ValueKind)
  /// The bytes of the file are the value of this kind, as it is stored.
  case body(ValueKind)
  /// The bytes of the file between two texts that are not secret.
  case between(String, String)
  /// As ``between(_:_:)``, with the bytes in base32.
  case base32(String, String)

  /// The kind of the value with these bytes of the file.
  func kind(of bytes: UnsafeRawBufferPointer) -> ValueKind {
    switch self {
    case .text, .between: isUTF8(bytes) ? .string : .data
    case .kind(let kind), .body(let kind): kind
    case .base32: .string
    }
  }

  /// How many bytes are stored for the value with these bytes of the file.
  func count(of bytes: RawSpan) throws(VaultError) -> Int {
    switch self {
    case .text, .body: bytes.byteCount
    case .kind: try withBody(of: bytes) { $0.byteCount }
    case .between(let before, let after): before.utf8.count + bytes.byteCount + after.utf8.count
    case .base32(let before, let after): before.utf8.count + Base32.count(of: bytes.byteCount) + after.utf8.count
    }
  }

  /// Lends the bytes that are stored for the value.
  func withBody<R>(of bytes: RawSpan, _ body: (RawSpan) throws(VaultError) -> R) throws(VaultError) -> R {
    switch self {
    case .text, .body: return try body(bytes)
    case .kind(let kind):
      guard let made = try TypedText.body(kind, bytes) else {
        throw VaultError(.typeMismatch, "the text is not a value of its kind")
      }
      return try made.withSpan { (span) throws(VaultError) in try body(span) }
    case .between(let before, let after): return try Self.withJoined(before, bytes, after, body)
    case .base32(let before, let after):
      let digits = try Base32.encode(bytes)
      return try digits.withSpan { (digits) throws(VaultError) in try Self.withJoined(before, digits, after, body) }
    }
  }

  private static func withJoined<R>(
    _ before: String, _ bytes: RawSpan, _ after: String, _ body: (RawSpan) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let buffer = try GuardedBuffer()
    try buffer.append(before)
    try bytes.withUnsafeBytes { bytes in Result { () throws(VaultError) in try buffer.append(bytes) } }.get()
    try buffer.append(after)
    return try buffer.withUnsafeBytes { (bytes) throws(VaultError) in try body(bytes.bytes) }
  }
}
