internal import CVaultSodium

/// A heap buffer that is wiped before it is freed.
///
/// For names and sealed values (`Docs/Format.md` section 8): wiped, but not locked. The owner decides which thread may
/// access it.
@safe package final class WipedBuffer: @unchecked Sendable {
  /// The whole buffer, 64-byte aligned. Valid while the object is alive.
  package let bytes: UnsafeMutableRawBufferPointer

  /// Creates `count` bytes with undefined content.
  package init(count: Int) {
    precondition(count > 0, "a buffer has at least one byte")
    unsafe bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
  }

  /// Creates a copy of `start`, followed by zeros up to `count` bytes.
  package convenience init(copying start: RawSpan, count: Int? = nil) {
    self.init(count: count ?? start.byteCount)
    copy(start)
    let rest = unsafe bytes[start.byteCount...]
    if let base = unsafe UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress {
      unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: rest.count)
    }
  }

  /// Copies `source` to `offset`. The buffer must have room for it.
  package func copy(_ source: RawSpan, at offset: Int = 0) {
    let place = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + source.byteCount])
    unsafe source.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
  }

  /// The number of bytes.
  package var count: Int { unsafe bytes.count }

  /// The whole buffer for reading. Valid while the object is alive.
  package var span: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(UnsafeRawBufferPointer(bytes).bytes, borrowing: self) }
  }

  deinit {
    unsafe sodium_memzero(bytes.baseAddress, bytes.count)
    unsafe bytes.deallocate()
  }
}

extension WipedBuffer: CustomReflectable {
  /// Empty, because a dump would print the content of the buffer.
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Wipes `buffer`. The compiler cannot remove this.
package func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
  if let base = buffer.baseAddress { unsafe sodium_memzero(base, buffer.count) }
}

extension [UInt8] {
  /// The bytes, without a copy.
  package var bytes: RawSpan {
    @_lifetime(borrow self)
    @inlinable get { unsafe span.bytes }
  }

  /// Wipes the storage of the array and empties it. Earlier copies are not wiped.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { unsafe VaultSealing.wipe($0) }
    removeAll(keepingCapacity: false)
  }
}
