internal import CVaultSodium

/// A heap buffer that is wiped before it is freed.
///
/// For names and for values that are still sealed (`Docs/Format.md` section 8): wiped, but not locked. The owner
/// decides which thread may touch it.
@safe package final class WipedBuffer: @unchecked Sendable {
  /// All of the buffer; valid as long as the object lives. 64-byte aligned.
  package let bytes: UnsafeMutableRawBufferPointer

  /// Makes `count` bytes whose content is undefined.
  package init(count: Int) {
    precondition(count > 0, "a buffer has at least one byte")
    unsafe bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
  }

  /// The same for reading. Valid as long as the object lives.
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
  /// Nothing: a dump that walks collections would print what the buffer holds.
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Wipes `buffer` in a way that the compiler does not remove.
package func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
  if let base = buffer.baseAddress { unsafe sodium_memzero(base, buffer.count) }
}

extension [UInt8] {
  /// Wipes the array's own storage and empties it. Copies made before are not reached.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { unsafe VaultSealing.wipe($0) }
    removeAll(keepingCapacity: false)
  }
}
