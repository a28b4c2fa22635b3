internal import VaultCore

/// The text of a number, bool or date. Other kinds are written as their bytes.
///
/// The text is an ordinary string in memory that is neither locked nor wiped. That is acceptable for settings. Store a
/// secret, such as a PIN, as text or data.
struct ValueText {
  let text: String
  let json: JSON

  /// `nil` for kinds that are written as their bytes. The vault has checked that the bytes fit the kind.
  init?(_ kind: ValueKind, _ bytes: UnsafeRawBufferPointer) {
    switch kind {
    case .bool:
      text = bytes[0] == 1 ? "true" : "false"
      json = .bool(bytes[0] == 1)
    case .integer:
      let number = Int64(bitPattern: Self.word(bytes))
      text = "\(number)"
      json = .integer(number)
    case .unsignedInteger:
      let number = Self.word(bytes)
      text = "\(number)"
      json = .unsigned(number)
    case .double:
      let number = Double(bitPattern: Self.word(bytes))
      text = "\(number)"
      json = number.isFinite ? .number(text) : .string(text)
    case .date:
      let seconds = Double(bitPattern: Self.word(bytes))
      text = Timestamp(secondsSince2001: seconds)?.text ?? "\(seconds)"
      json = .string(text)
    default: return nil
    }
  }

  /// Lends the bytes that `get` writes, and whether they are text.
  static func withText<R>(
    _ kind: ValueKind, _ bytes: UnsafeRawBufferPointer, _ body: (_ isText: Bool, UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    guard let text = ValueText(kind, bytes) else { return try body(kind.isText, bytes) }
    return try Array(text.text.utf8).withUnsafeBytes { try body(true, $0) }
  }

  private static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
  }
}

extension ValueKind {
  /// The name of the kind in the tool's output.
  var label: String {
    switch self {
    case .string: "string"
    case .data: "data"
    case .bool: "bool"
    case .integer: "integer"
    case .unsignedInteger: "unsignedInteger"
    case .double: "double"
    case .date: "date"
    case .url: "url"
    case .json: "json"
    default: "kind-\(rawValue)"
    }
  }

  /// Whether the bytes are UTF-8.
  var isText: Bool { self == .string || self == .url || self == .json }

  /// Whether `find --value`, `scan` and `run --mask` search for the value.
  var isSearchable: Bool { isText || self == .data }
}
