internal import CVaultSodium
package import DurableFiles
internal import Synchronization

/// A fixed number of secret bytes in guarded memory, with one owner (`sodium_malloc`).
///
/// The bytes are next to an inaccessible page, excluded from core dumps, locked in memory if the system allows it, and
/// wiped when the owner releases them. In a forked child they are zero, and using them ends the child. The type cannot
/// be copied, printed or encoded. Each value needs one locked page and about 20 µs: use it for the values in use, not
/// for every record.
@safe public struct SecretBytes: ~Copyable, @unchecked Sendable {
  // Unchecked: uniquely owned, and shared borrows only read.
  private let base: UnsafeMutableRawPointer
  /// The number of bytes.
  public let count: Int
  /// Whether the page is locked in memory. `false` if the system refused (`RLIMIT_MEMLOCK`), so that the bytes may be
  /// swapped out. ``GuardedMemory/unlockedBlocks`` counts such pages.
  public let isLocked: Bool
  /// The process that created the bytes.
  package let origin = ForkGuard()

  /// Creates `count` zero bytes.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory or no random bytes.
  public init(count: Int) throws(VaultError) {
    guard GuardedMemory.isReady else { throw VaultError(.io, "the system refuses random bytes") }
    // An empty block has no usable address, so it gets one byte that is never read.
    guard let base = unsafe sodium_malloc(max(count, 1)) else {
      throw VaultError(.io, "the system gave no guarded page for \(count) bytes")
    }
    unsafe sodium_memzero(base, max(count, 1))
    unsafe wipeOnFork(base, max(count, 1))
    unsafe self.base = unsafe base
    self.count = count
    // sodium_malloc locks the page and hides a failure. Locking again is harmless and returns the result.
    isLocked = unsafe mlock(base, max(count, 1)) == 0
    GuardedMemory.note(locked: isLocked)
  }

  /// Creates a copy of `bytes`. The caller wipes its own copy.
  public init(copying bytes: UnsafeRawBufferPointer) throws(VaultError) {
    try self.init(count: bytes.count)
    if let source = bytes.baseAddress { unsafe base.copyMemory(from: source, byteCount: count) }
  }

  /// Creates a copy of `bytes`. The caller wipes its own copy.
  public init(copying bytes: RawSpan) throws(VaultError) {
    try unsafe self.init(copying: bytes.lent)
  }

  /// Creates `count` bytes from `random`.
  public init(count: Int, from random: RandomSource) throws(VaultError) {
    try self.init(count: count)
    unsafe random.fill(UnsafeMutableRawBufferPointer(start: base, count: count))
  }

  deinit {
    // Wipes and unmaps the page. Not in a forked child, where libsodium would take the zeroed page for an overrun.
    if origin.isOwn { unsafe sodium_free(base) }
  }

  private var own: UnsafeMutableRawPointer {
    precondition(origin.isOwn, "secret bytes do not survive a fork")
    return unsafe base
  }

  /// Lends the bytes to `body` for reading. The pointer is invalid afterwards.
  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(start: own, count: count))
  }

  /// Lends the bytes to `body` for writing. The pointer is invalid afterwards.
  public mutating func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeMutableRawBufferPointer(start: own, count: count))
  }

  /// Lends the bytes to `body` for reading, without an unsafe pointer.
  public borrowing func withSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe UnsafeRawBufferPointer(start: own, count: count).bytes)
  }

  /// Returns the first `length` bytes in a new block and wipes the rest.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  public consuming func prefix(_ length: Int) throws(VaultError) -> SecretBytes {
    precondition((0...count).contains(length), "a prefix is no longer than the whole")
    if length == count { return self }
    return try unsafe SecretBytes(copying: UnsafeRawBufferPointer(start: own, count: length))
  }

  /// Whether both have the same bytes. The time depends only on the lengths.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    other.withSpan { isEqual(to: $0) }
  }

  /// Whether the bytes are those of `other`. The time depends only on the lengths.
  package borrowing func isEqual(to other: RawSpan) -> Bool {
    unsafe count == other.byteCount && (count == 0 || sodium_memcmp(own, other.lent.baseAddress!, count) == 0)
  }
}

/// Facts about the guarded memory of the process.
public enum GuardedMemory {
  private static let refused = Atomic<Int>(0)
  /// Initialises libsodium and returns whether it succeeded. Required before anything that needs keys, because without
  /// random bytes they would be predictable.
  static let isReady: Bool = {
    // Checked before libsodium does, which would end the process without a message.
    var byte: UInt8 = 0
    return unsafe withUnsafeMutableBytes(of: &byte) { unsafe fillWithRandomBytes($0) } && sodium_init() >= 0
  }()

  /// The number of guarded blocks that the system has refused to lock in memory. If it is not 0, keys or values may
  /// have been swapped out: raise `RLIMIT_MEMLOCK`.
  public static var unlockedBlocks: Int { refused.load(ordering: .relaxed) }

  /// The version of the linked libsodium, such as `1.0.18`.
  public static var libraryVersion: String { unsafe String(cString: sodium_version_string()) }

  static func note(locked: Bool) {
    if !locked { refused.add(1, ordering: .relaxed) }
  }
}
