internal import Glibc

/// The bytes of a file as they were read at one time. In a vault file all of them are sealed or public.
final class FileImage: @unchecked Sendable {
  // Unchecked: changed only by the thread that creates it, before it is shared.
  private var storage: UnsafeMutableRawPointer
  /// The number of bytes.
  private(set) var count: Int

  /// Reads a part of a file, or less if the file ends earlier.
  ///
  /// The file may have grown since its length was read, so the length is checked before memory is allocated for it.
  /// - Throws: ``VaultError/Code/limitExceeded``, ``VaultError/Code/io``.
  init(_ descriptor: Descriptor, _ range: Range<Int>, limit: Int) throws(VaultError) {
    guard range.upperBound <= limit else {
      throw VaultError(.limitExceeded, "the file is longer than \(limit) bytes")
    }
    guard let storage = malloc(max(range.count, 1)) else { throw .io("make room for the file") }
    (self.storage, count) = (storage, 0)
    count = try descriptor.read(
      into: UnsafeMutableRawBufferPointer(start: storage, count: range.count), at: range.lowerBound)
  }

  /// Copies bytes that are already in memory.
  convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
  }

  convenience init(_ bytes: [UInt8]) {
    self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
  }

  private init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    storage = malloc(max(count, 1))!
    self.count = count
    fill(UnsafeMutableRawBufferPointer(start: storage, count: count))
  }

  deinit { free(storage) }

  /// Frees the memory behind the first `length` bytes.
  func shorten(to length: Int) {
    guard length < count, let shorter = realloc(storage, max(length, 1)) else { return }
    (storage, count) = (shorter, length)
  }

  /// All bytes, for parsing.
  var span: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(bytes.bytes, borrowing: self) }
  }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

  subscript(range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }
}
