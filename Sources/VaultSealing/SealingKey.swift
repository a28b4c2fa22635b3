internal import CVaultSodium

/// A 32-byte key in guarded memory that several holders may share; wiped with the last of them.
///
/// Vault key, group key, class key, key-encryption key, device key and raw key are all of this type
/// (`Docs/Format.md` section 1). Keys share guarded pages, so that thousands of them can be locked in memory.
@safe public final class SealingKey: @unchecked Sendable {
  // Unchecked: written once, before anybody else has the key.
  private let place: UnsafeMutableRawPointer
  /// Which process the key belongs to: a forked child has zeros in its place.
  package let origin = ForkGuard()

  /// The length of every key, in bytes.
  public static let count = 32

  /// Lets `body` fill in the 32 bytes, which are zero before.
  init(filling body: (UnsafeMutableRawBufferPointer) -> Void) throws(VaultError) {
    unsafe place = try unsafe KeyPages.take()
    unsafe body(UnsafeMutableRawBufferPointer(start: place, count: Self.count))
  }

  /// Draws a new key.
  public convenience init(from random: RandomSource) throws(VaultError) {
    try unsafe self.init { unsafe random.fill($0) }
  }

  /// Copies 32 bytes whose storage stays the caller's to wipe.
  public convenience init(copying bytes: UnsafeRawBufferPointer) throws(VaultError) {
    precondition(bytes.count == Self.count, "a key has 32 bytes")
    try unsafe self.init { unsafe $0.copyMemory(from: bytes) }
  }

  /// Lets `body` fill in the 32 bytes; nil when it answers `false`.
  package convenience init?(fillingIf body: (UnsafeMutableRawBufferPointer) -> Bool) throws(VaultError) {
    var isFilled = false
    try unsafe self.init { isFilled = unsafe body($0) }
    guard isFilled else { return nil }
  }

  deinit {
    if origin.isOwn { unsafe KeyPages.giveBack(place) }
  }

  private var own: UnsafeMutableRawPointer {
    precondition(origin.isOwn, "a key does not survive a fork")
    return unsafe place
  }

  /// Whether both are the same 32 bytes. Compared in constant time.
  package func isEqual(to other: SealingKey) -> Bool {
    unsafe self === other || sodium_memcmp(own, other.own, Self.count) == 0
  }

  /// Lends the 32 bytes.
  public func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(start: own, count: Self.count))
  }
}

extension SealingKey: CustomReflectable {
  /// Nothing: neither bytes nor where they are.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
