/// The byte string `T(x1, …, xk)` of `Docs/Format.md` 2.1: each item is preceded by its length, so that different lists
/// of items give different bytes.
///
/// A class, because a struct in a property of its owner needs run-time exclusivity checks: six for every get. It serves
/// one caller at a time.
@safe package final class Transcript {
  private var storage: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init() {
    capacity = 512
    unsafe storage = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    // The storage contains names of records, which are sealed in the file.
    unsafe wipe(UnsafeMutableRawBufferPointer(start: storage, count: capacity))
    unsafe storage.deallocate()
  }

  /// Appends one item.
  package func add(_ item: UnsafeRawBufferPointer) {
    addLength(item.count)
    unsafe append(item)
  }

  /// Appends one item.
  package func add(_ item: RawSpan) { unsafe item.withUnsafeBytes { unsafe add($0) } }

  /// Appends one item of ASCII text.
  package func add(_ text: StaticString) {
    addLength(text.utf8CodeUnitCount)
    append(text)
  }

  // Three functions, because a generic one is not specialised for callers in other modules.
  /// Appends one item: the byte.
  package func add(_ integer: UInt8) { append(integer) }
  /// Appends one item: the integer in four little-endian bytes.
  package func add(_ integer: UInt32) { append(integer) }
  /// Appends one item: the integer in eight little-endian bytes.
  package func add(_ integer: UInt64) { append(integer) }

  /// Starts over with the label's item, `"SPV1/" ‖ label`.
  @inline(__always)
  func begin(_ label: StaticString) {
    count = 0
    let prefix: StaticString = "SPV1/"
    addLength(prefix.utf8CodeUnitCount + label.utf8CodeUnitCount)
    append(prefix)
    append(label)
  }

  /// Clears the transcript.
  func clear() { count = 0 }

  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: storage, count: count) }

  @inline(__always)
  private func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    unsafe storage.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  @inline(__always)
  private func append(_ text: StaticString) {
    unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  private func append<I: FixedWidthInteger & BitwiseCopyable>(_ integer: I) {
    addLength(MemoryLayout<I>.size)
    unsafe storage.storeBytes(of: integer.littleEndian, toByteOffset: count, as: I.self)
    count += MemoryLayout<I>.size
  }

  @inline(__always)
  private func addLength(_ length: Int) {
    if count + length + 8 > capacity { grow(by: length + 8) }
    unsafe storage.storeBytes(of: UInt64(length).littleEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  private func grow(by more: Int) {
    let grown = max(capacity * 2, count + more)
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
    unsafe fresh.copyMemory(from: storage, byteCount: count)
    unsafe wipe(UnsafeMutableRawBufferPointer(start: storage, count: capacity))
    unsafe storage.deallocate()
    unsafe storage = unsafe fresh
    capacity = grown
  }
}
