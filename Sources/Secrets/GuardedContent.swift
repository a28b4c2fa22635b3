internal import Preferences
internal import VaultCore
internal import VaultSealing

/// The body of a value (`Docs/Format.md` 3.9) in guarded memory, shared by the copies of a ``Secret``.
final class GuardedContent: GuardedValue {
  let kind: ValueKind
  private let bytes: SecretBytes

  /// For a body that was opened, which is kept as it is, also if it does not fit the kind.
  init(opened kind: ValueKind, _ body: RawSpan) throws(VaultError) {
    self.kind = kind
    bytes = try SecretBytes(copying: body)
  }

  /// - Throws: ``VaultError/Code/typeMismatch`` if the bytes do not fit the kind.
  init(checking kind: ValueKind, _ body: RawSpan) throws(VaultError) {
    self.kind = kind
    guard kind.fits(body) else { throw VaultError(.typeMismatch, "the bytes do not fit the kind of value") }
    bytes = try SecretBytes(copying: body)
  }

  static func copying(_ value: PreferenceValue) throws(VaultError) -> GuardedContent {
    try SecretCoding.withEncoded(value, GuardedContent.init(checking:_:))
  }

  func withBytes<R, E: Error>(_ body: (ValueKind, RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.withSpan { (bytes) throws(E) in try body(kind, bytes) }
  }

  func value() throws(VaultError) -> PreferenceValue { try withBytes(SecretCoding.decode).get() }

  func preferenceKind() throws -> PreferenceValue.Kind {
    switch kind {
    case .string: .string
    case .data: .data
    case .bool: .bool
    case .integer: .integer
    case .unsignedInteger: .unsignedInteger
    case .double: .double
    case .date: .date
    default: try value().kind
    }
  }

  func isSame(as other: any GuardedValue) throws -> Bool {
    if let other = other as? GuardedContent { return isEqual(to: other) }
    return Optional(try value()).isSame(as: try other.value())
  }

  func hash(into hasher: inout Hasher) {
    withBytes { kind, body in
      switch kind {
      case .string: PreferenceValue.hash(body, of: .string, into: &hasher)
      case .data: PreferenceValue.hash(body, of: .data, into: &hasher)
      case .url: PreferenceValue.hash(body, of: .url, into: &hasher)
      default:
        switch SecretCoding.decode(kind, body) {
        case .success(let value): PreferenceContent.value(value).hash(into: &hasher)
        // No reader can decode such a body, so its bytes are hashed instead of its value.
        case .failure: PreferenceValue.hash(body, of: .data, into: &hasher)
        }
      }
    }
  }

  func isEqual(to other: GuardedContent) -> Bool { kind == other.kind && bytes.isEqual(to: other.bytes) }
}
