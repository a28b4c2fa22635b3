internal import FoundationEssentials
public import Preferences
public import VaultCore

/// Preference values as bodies of records and back (`Docs/Format.md` 3.9).
///
/// Arrays and dictionaries are JSON text. What JSON cannot tell apart stands in an object of one member whose name
/// starts with `$`; see ``JSONValue``.
enum SecretCoding {
  static let mismatch = VaultError(.typeMismatch, "the stored value is of another kind than the one asked for")

  /// How deep lists and dictionaries may nest: well within what the JSON decoder reads back.
  private static let deepest = 128

  /// The value that a body of `kind` stands for. Its form was checked when it was opened.
  static func decode(_ kind: ValueKind, _ body: UnsafeRawBufferPointer) -> Result<PreferenceValue, VaultError> {
    func word() -> UInt64 { UInt64(littleEndian: body.loadUnaligned(as: UInt64.self)) }
    switch kind {
    case .string: return .success(.string(String(decoding: body, as: UTF8.self)))
    case .data: return .success(.data(Data(body)))
    case .bool: return .success(.bool(body[0] == 1))
    case .integer: return .success(.integer(Int64(bitPattern: word())))
    case .unsignedInteger: return .success(.unsignedInteger(word()))
    case .double: return .success(.double(Double(bitPattern: word())))
    case .date: return .success(.date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word()))))
    case .url:
      guard let url = URL(string: String(decoding: body, as: UTF8.self)) else { return .failure(mismatch) }
      return .success(.url(url))
    case .json:
      do { return .success(try JSONDecoder().decode(JSONValue.self, from: Data(body)).value) } catch {
        // Not carried as the cause: the decoder's errors repeat the text they parsed.
        return .failure(VaultError(.typeMismatch, "the stored JSON is not a list or dictionary of preference values"))
      }
    default:
      return .failure(VaultError(.typeMismatch, "the stored value is of a kind that this version does not know"))
    }
  }

  /// Lends the kind and body of `value`.
  static func withEncoded<R>(
    _ value: PreferenceValue, _ body: (ValueKind, UnsafeRawBufferPointer) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    switch value {
    case .string(let text): return try lend(text.utf8Span.span.bytes, .string, body)
    case .url(let url): return try lend(url.absoluteString.utf8Span.span.bytes, .url, body)
    case .data(let data): return try lend(data.bytes, .data, body)
    case .bool(let flag): return try lend(UInt8(flag ? 1 : 0), .bool, body)
    case .integer(let number): return try lend(UInt64(bitPattern: number), .integer, body)
    case .unsignedInteger(let number): return try lend(number, .unsignedInteger, body)
    case .double(let number): return try lend(number.bitPattern, .double, body)
    case .date(let date): return try lend(date.timeIntervalSinceReferenceDate.bitPattern, .date, body)
    case .array, .dictionary:
      guard value.depth <= deepest else {
        throw VaultError(.typeMismatch, "a list or dictionary nested more than \(deepest) levels deep")
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let data: Data
      do { data = try encoder.encode(JSONValue(value)) } catch {
        throw VaultError(.typeMismatch, "a list or dictionary could not be written as JSON")
      }
      return try lend(data.bytes, .json, body)
    }
  }

  // Lent where they are: a copy of ours would have to be wiped.

  private static func lend<R>(
    _ bytes: RawSpan, _ kind: ValueKind,
    _ body: (ValueKind, UnsafeRawBufferPointer) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try bytes.withUnsafeBytes { (bytes) throws(VaultError) in try body(kind, bytes) }
  }

  private static func lend<R>(
    _ number: some FixedWidthInteger, _ kind: ValueKind,
    _ body: (ValueKind, UnsafeRawBufferPointer) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try withUnsafeBytes(of: number.littleEndian) { (bytes) throws(VaultError) in try body(kind, bytes) }
  }
}

extension Vault.Batch {
  /// Seals `value` and adds it; as the form for bytes.
  public mutating func set(
    _ value: PreferenceValue, forKey key: String, accessibility: Vault.Accessibility? = nil,
    ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try SecretCoding.withEncoded(value) { (kind, body) throws(VaultError) in
      try set(body, kind: kind, forKey: key, accessibility: accessibility, ifRevision: revision)
    }
  }
}

extension PreferenceValue {
  /// How many lists and dictionaries stand in each other.
  fileprivate var depth: Int {
    switch self {
    case .array(let items): 1 + (items.lazy.map(\.depth).max() ?? 0)
    case .dictionary(let members): 1 + (members.values.lazy.map(\.depth).max() ?? 0)
    default: 0
    }
  }
}
