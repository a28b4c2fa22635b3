internal import DurableFiles

// The span checks the bounds and every bit pattern is a valid integer, so these unsafe loads are safe.
extension RawSpan {
  /// The little-endian integer at `offset`, which need not be aligned.
  @inline(__always)
  func integer<I: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _: I.Type = I.self) -> I {
    unsafe I(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: I.self))
  }

  @inline(__always)
  func byte(at offset: Int) -> UInt8 { integer(at: offset) }

  /// Whether all bytes are zero.
  var isZero: Bool {
    // Each byte is that before it, compared by the C library.
    byteCount == 0 || byte(at: 0) == 0 && compareBytes(extracting(..<(byteCount - 1)), extracting(1...)) == 0
  }

  func starts(with prefix: [UInt8]) -> Bool {
    byteCount >= prefix.count && compareBytes(extracting(..<prefix.count), prefix.bytes) == 0
  }

  /// A copy of the bytes.
  var copy: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}

extension [UInt8] {
  /// The bytes of an integer, lowest first.
  init<I: FixedWidthInteger & BitwiseCopyable>(littleEndian value: I) {
    let value: InlineArray = [value.littleEndian]
    self = unsafe value.span.bytes.copy
  }
}

/// Compares as byte strings: negative, zero or positive.
@inline(__always)
func compareBytes(_ a: RawSpan, _ b: RawSpan) -> Int {
  let common = min(a.byteCount, b.byteCount)
  if common > 0 {
    let order = unsafe a.withUnsafeBytes { a in
      unsafe b.withUnsafeBytes { b in unsafe memcmp(a.baseAddress!, b.baseAddress!, common) }
    }
    if order != 0 { return Int(order) }
  }
  return a.byteCount - b.byteCount
}
