/// A 32-byte key in guarded memory that several holders may share; wiped with the last of them.
///
/// Vault key, group key, class key, key-encryption key, device key and raw key are all of this type
/// (`Docs/Format.md` section 1).
public final class SealingKey: Sendable {
  /// The length of every key, in bytes.
  public static let count = 32

  private let bytes: SecretBytes

  /// Draws a new key.
  public init(from random: RandomSource) throws(SealingError) {
    bytes = try SecretBytes(count: Self.count, from: random)
  }

  /// Takes over 32 bytes.
  public init(_ bytes: consuming SecretBytes) {
    precondition(bytes.count == Self.count, "a key has 32 bytes")
    self.bytes = bytes
  }

  /// Copies 32 bytes whose storage stays the caller's to wipe.
  public convenience init(copying bytes: UnsafeRawBufferPointer) throws(SealingError) {
    self.init(try unsafe SecretBytes(copying: bytes))
  }

  /// Whether both are the same 32 bytes. Compared in constant time.
  package func isEqual(to other: SealingKey) -> Bool { self === other || bytes.isEqual(to: other.bytes) }

  /// Lends the 32 bytes.
  public func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe bytes.withUnsafeBytes(body)
  }
}
