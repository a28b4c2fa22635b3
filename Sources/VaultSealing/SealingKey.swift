internal import CVaultSodium
package import DurableFiles

/// A 32-byte key in guarded memory, which is wiped when the last reference is released.
///
/// Vault key, group key, class key, key-encryption key, device key and raw key are all of this type
/// (`Docs/Format.md` section 1). Keys share guarded pages, so that thousands of them can be locked in memory.
@safe public final class SealingKey: @unchecked Sendable {
  // Unchecked: written once, before the key is shared.
  private let place: UnsafeMutableRawPointer
  /// The process that created the key. In a forked child the key is zero and unusable.
  package let origin = ForkGuard()

  /// The length of every key, in bytes.
  public static let count = 32

  /// Creates a key that `body` fills. The 32 bytes that it receives are zero.
  init(filling body: (UnsafeMutableRawBufferPointer) -> Void) throws(VaultError) {
    unsafe place = try unsafe KeyPages.acquire()
    unsafe body(UnsafeMutableRawBufferPointer(start: place, count: Self.count))
  }

  /// Creates a random key.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory or no random bytes.
  public convenience init(from random: RandomSource) throws(VaultError) {
    try unsafe self.init { unsafe random.fill($0) }
  }

  /// Creates a key with a copy of 32 bytes. The caller wipes its own copy.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory or no random bytes.
  public convenience init(copying bytes: UnsafeRawBufferPointer) throws(VaultError) {
    precondition(bytes.count == Self.count, "a key has 32 bytes")
    try unsafe self.init { unsafe $0.copyMemory(from: bytes) }
  }

  /// Creates a key that `body` fills; `nil` if `body` returns `false`.
  package convenience init?(fillingIf body: (UnsafeMutableRawBufferPointer) -> Bool) throws(VaultError) {
    var isFilled = false
    try unsafe self.init { isFilled = unsafe body($0) }
    guard isFilled else { return nil }
  }

  deinit {
    if origin.isOwn { unsafe KeyPages.release(place) }
  }

  private var own: UnsafeMutableRawPointer {
    precondition(origin.isOwn, "a key does not survive a fork")
    return unsafe place
  }

  /// Whether both keys have the same 32 bytes, compared in constant time.
  package func isEqual(to other: SealingKey) -> Bool {
    unsafe self === other || sodium_memcmp(own, other.own, Self.count) == 0
  }

  /// Creates a key with a copy of 32 bytes. The caller wipes its own copy.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory or no random bytes.
  package convenience init(copying bytes: RawSpan) throws(VaultError) {
    try unsafe self.init(copying: bytes.lent)
  }

  /// Lends the 32 bytes without an unsafe pointer.
  package func withSpan<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe UnsafeRawBufferPointer(start: own, count: Self.count).bytes)
  }

  /// Lends the 32 bytes to `body`. The pointer is invalid afterwards.
  public func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(start: own, count: Self.count))
  }
}

extension SealingKey: CustomReflectable {
  /// Empty, so that a dump shows neither the bytes nor their address.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
