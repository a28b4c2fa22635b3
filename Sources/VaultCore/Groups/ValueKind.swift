internal import VaultSealing

/// The type of a value, which is stored in its record and bound into its seal (`Docs/Format.md` 3.9).
public struct ValueKind: RawRepresentable, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// UTF-8 text.
  public static let string = ValueKind(rawValue: 1)
  /// Any bytes.
  public static let data = ValueKind(rawValue: 2)
  /// One byte, 0 or 1.
  public static let bool = ValueKind(rawValue: 3)
  /// Eight bytes, two's complement, little-endian.
  public static let integer = ValueKind(rawValue: 4)
  /// Eight bytes, little-endian.
  public static let unsignedInteger = ValueKind(rawValue: 5)
  /// Eight bytes, IEEE 754, little-endian.
  public static let double = ValueKind(rawValue: 6)
  /// Eight bytes, IEEE 754: seconds since 2001-01-01 UTC.
  public static let date = ValueKind(rawValue: 7)
  /// UTF-8 text of a URL.
  public static let url = ValueKind(rawValue: 8)
  /// UTF-8 text of a JSON value.
  public static let json = ValueKind(rawValue: 9)

  /// Whether a body has the form of its kind. A kind that this version does not know allows every body.
  package func fits(_ body: RawSpan) -> Bool {
    defer { wipeStack(2048) }
    return fitsUnwiped(body)
  }

  /// As ``fits(_:)``, for the check of ``Sealer/withOpened(_:with:if:_:)``, which wipes the stack: checking text word
  /// by word leaves a word of it there.
  func fitsUnwiped(_ body: RawSpan) -> Bool {
    switch self {
    case .string, .url, .json: isUTF8(body)
    case .bool: body.byteCount == 1 && body.byte(at: 0) <= 1
    case .integer, .unsignedInteger, .double, .date: body.byteCount == 8
    default: true
    }
  }

  /// Refuses a value that is longer than `limit` bytes or does not fit this kind.
  /// - Throws: ``VaultError/Code/valueTooLarge``, ``VaultError/Code/typeMismatch``.
  func check(_ value: RawSpan, limit: Int) throws(VaultError) {
    guard value.byteCount <= limit else {
      throw VaultError(.valueTooLarge, "the value has \(value.byteCount) bytes; the limit is \(limit)")
    }
    guard rawValue != 0, fits(value) else {
      throw VaultError(.typeMismatch, "the bytes are not a valid value of this kind")
    }
  }
}
