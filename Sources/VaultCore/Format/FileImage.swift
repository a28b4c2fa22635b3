/// The bytes of a vault file as they were read once. Everything in it is sealed or public.
final class FileImage: @unchecked Sendable {
  // Unchecked: written only by whoever makes it, before anybody else sees it.
  private let storage: UnsafeMutableRawBufferPointer

  init(count: Int) {
    storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 64)
    self.count = count
  }

  convenience init(_ bytes: [UInt8]) {
    self.init(count: bytes.count)
    storage.copyBytes(from: bytes)
  }

  deinit { storage.deallocate() }

  /// How many of the bytes are the file's; shrinks when the file did while it was read.
  var count: Int

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }
  var mutableBytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: storage[..<count]) }

  subscript(range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }
}
