internal import DurableFiles

/// The bytes of a file as they were read at one time. In a vault file all of them are sealed or public.
@safe final class FileImage: @unchecked Sendable {
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
    guard let storage = unsafe malloc(max(range.count, 1)) else { throw .io("make room for the file") }
    unsafe (self.storage, count) = unsafe (storage, 0)
    count = try unsafe descriptor.read(
      into: UnsafeMutableRawBufferPointer(start: storage, count: range.count), at: range.lowerBound)
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

extension Descriptor {
  /// The bytes that are read at once where a file is searched or compared.
  private static var pieceBytes: Int { 1 << 18 }

  /// Whether a part of the file has only zero bytes. Holes are not read.
  func isZero(_ range: Range<Int>) throws(VaultError) -> Bool {
    var start = nextData(from: range.lowerBound)
    while start < range.upperBound {
      let piece = start..<min(start + Self.pieceBytes, range.upperBound)
      let image = try FileImage(self, piece, limit: Int.max)
      if !image.span.isZero { return false }
      start = nextData(from: piece.upperBound)
    }
    return true
  }

  /// Whether two files have the same bytes in a range, and both have all of it.
  func isEqual(to other: Descriptor, _ range: Range<Int>) throws(VaultError) -> Bool {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceBytes) {
      let piece = start..<min(start + Self.pieceBytes, range.upperBound)
      let image = try FileImage(self, piece, limit: Int.max)
      let otherImage = try FileImage(other, piece, limit: Int.max)
      guard image.count == piece.count, compareBytes(image.span, otherImage.span) == 0 else { return false }
    }
    return true
  }
}
