internal import VaultCore
internal import VaultSealing

/// The body of a value (`Docs/Format.md` 3.9) in guarded memory, shared by the copies of a ``Secret``.
final class GuardedContent: Sendable {
  let kind: ValueKind
  private let bytes: SecretBytes

  init(_ kind: ValueKind, _ body: RawSpan) throws(VaultError) {
    self.kind = kind
    bytes = try SecretBytes(copying: body)
  }

  /// - Throws: ``VaultError/Code/typeMismatch`` when the bytes do not fit the kind.
  init(_ kind: ValueKind, copying body: RawSpan) throws(VaultError) {
    self.kind = kind
    guard kind.fits(body) else { throw VaultError(.typeMismatch, "the bytes do not fit the kind of value") }
    bytes = try SecretBytes(copying: body)
  }

  func withBytes<R, E: Error>(_ body: (ValueKind, RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.withSpan { (bytes) throws(E) in try body(kind, bytes) }
  }

  func isEqual(to other: GuardedContent) -> Bool { kind == other.kind && bytes.isEqual(to: other.bytes) }
}
