internal import DurableFiles

/// The bytes of a file as they were read at one time. In a vault file all of them are sealed or public.
@safe final class FileImage: @unchecked Sendable {
  // Unchecked: changed only by the thread that creates it, before it is shared.
  private var storage: UnsafeMutableRawPointer
  /// The number of bytes.
  private(set) var count: Int

  /// Room for `capacity` bytes, of which `fill` says how many it has written.
  /// - Throws: ``VaultError/Code/io`` without memory; the error of `fill`.
  init(
    capacity: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(VaultError) -> Int
  ) throws(VaultError) {
    guard let storage = unsafe malloc(max(capacity, 1)) else { throw .io("make room for the file") }
    unsafe (self.storage, count) = unsafe (storage, 0)
    count = try unsafe fill(UnsafeMutableRawBufferPointer(start: storage, count: capacity))
  }

  /// Copies bytes that are already in memory.
  init(copying bytes: RawSpan) {
    unsafe storage = unsafe malloc(max(bytes.byteCount, 1))!
    count = bytes.byteCount
    let copy = unsafe UnsafeMutableRawBufferPointer(start: storage, count: count)
    unsafe bytes.withUnsafeBytes { unsafe copy.copyMemory(from: $0) }
  }

  convenience init(_ bytes: [UInt8]) { self.init(copying: bytes.bytes) }

  deinit { unsafe free(storage) }

  /// Frees the memory behind the first `length` bytes.
  func shorten(to length: Int) {
    guard length < count, let shorter = unsafe realloc(storage, max(length, 1)) else { return }
    unsafe (storage, count) = unsafe (shorter, length)
  }

  /// All bytes, for parsing.
  var span: RawSpan {
    @_lifetime(borrow self)
    get {
      unsafe _overrideLifetime(UnsafeRawBufferPointer(start: storage, count: count).bytes, borrowing: self)
    }
  }

  subscript(range: Range<Int>) -> RawSpan {
    @_lifetime(borrow self)
    get { span.extracting(range) }
  }
}
