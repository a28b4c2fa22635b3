internal import CVaultSodium
internal import Glibc
internal import Synchronization

/// A fixed number of secret bytes in guarded memory, owned by exactly one place.
///
/// The bytes lie against an inaccessible page, are kept out of core dumps and, where the system allows it, out
/// of swap, and are wiped when the owner lets go. A forked child has zeros in their place: using them there is a fault of
/// the program and ends the child. The type cannot be copied, printed or encoded. One allocation
/// takes a locked page and about 20 µs (`sodium_malloc`): use it for keys and for the value in hand, not for
/// every record.
@safe public struct SecretBytes: ~Copyable, @unchecked Sendable {
  // Unchecked: uniquely owned, and shared borrows only read.
  private let base: UnsafeMutableRawPointer
  /// The number of bytes.
  public let count: Int
  /// Whether the page is locked in memory. `false` means that the system refused (`RLIMIT_MEMLOCK`) and the
  /// bytes may reach swap; ``GuardedMemory`` counts such pages.
  public let isLocked: Bool
  /// Which process the bytes belong to.
  package let origin = ForkGuard()

  /// Makes `count` zero bytes.
  /// - Throws: ``VaultError/Code/io`` when the system gives no memory or no random bytes.
  public init(count: Int) throws(VaultError) {
    guard GuardedMemory.isReady else { throw VaultError(.io, "the system refuses random bytes") }
    // A block of zero bytes has no address to speak of, so it gets one that is never read.
    guard let base = unsafe sodium_malloc(max(count, 1)) else {
      throw VaultError(.io, "the system gave no guarded page for \(count) bytes")
    }
    unsafe sodium_memzero(base, max(count, 1))
    unsafe wipeOnFork(base, max(count, 1))
    unsafe self.base = unsafe base
    self.count = count
    // sodium_malloc locks the page and hides a refusal. Locking is idempotent, so asking again tells.
    isLocked = unsafe mlock(base, max(count, 1)) == 0
    GuardedMemory.note(locked: isLocked)
  }

  /// Copies `bytes`, whose own storage stays the caller's to wipe.
  public init(copying bytes: UnsafeRawBufferPointer) throws(VaultError) {
    try self.init(count: bytes.count)
    if let source = bytes.baseAddress { unsafe base.copyMemory(from: source, byteCount: count) }
  }

  /// Draws `count` bytes from `random`.
  public init(count: Int, from random: RandomSource) throws(VaultError) {
    try self.init(count: count)
    unsafe random.fill(UnsafeMutableRawBufferPointer(start: base, count: count))
  }

  deinit {
    // Wipes, then unmaps. In a forked child the wiped pages would look to libsodium like an overrun.
    if origin.isOwn { unsafe sodium_free(base) }
  }

  private var own: UnsafeMutableRawPointer {
    precondition(origin.isOwn, "secret bytes do not survive a fork")
    return unsafe base
  }

  /// Lends the bytes for reading. The pointer is invalid after `body`.
  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(start: own, count: count))
  }

  /// Lends the bytes for writing. The pointer is invalid after `body`.
  public mutating func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeMutableRawBufferPointer(start: own, count: count))
  }

  /// Lends the bytes for reading without an unsafe pointer.
  public borrowing func withSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe UnsafeRawBufferPointer(start: own, count: count).bytes)
  }

  /// Gives the first `length` bytes in a block of their own; the rest is wiped.
  public consuming func prefix(_ length: Int) throws(VaultError) -> SecretBytes {
    precondition((0...count).contains(length), "a prefix is no longer than the whole")
    if length == count { return self }
    return try unsafe SecretBytes(copying: UnsafeRawBufferPointer(start: own, count: length))
  }

  /// Compares in a time that depends on the lengths alone.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    unsafe count == other.count && (count == 0 || sodium_memcmp(own, other.own, count) == 0)
  }
}

/// What the process knows about its guarded pages.
public enum GuardedMemory {
  private static let refused = Atomic<Int>(0)
  /// Makes libsodium ready; whether it is. Everything here that needs keys passes through this first: without random
  /// bytes they would be predictable.
  static let isReady: Bool = {
    // Asked before libsodium asks, which would end the process without a message.
    var byte: UInt8 = 0
    return unsafe withUnsafeMutableBytes(of: &byte) { unsafe RandomSource.fillFromSystem($0) } && sodium_init() >= 0
  }()

  /// The number of guarded blocks so far that the system refused to lock in memory. More than zero means that
  /// keys or values may have reached swap; raising `RLIMIT_MEMLOCK` ends it.
  public static var unlockedBlocks: Int { refused.load(ordering: .relaxed) }

  /// The version of the linked libsodium, such as `1.0.18`.
  public static var libraryVersion: String { unsafe String(cString: sodium_version_string()) }

  static func note(locked: Bool) {
    if !locked { refused.add(1, ordering: .relaxed) }
  }
}
