/// `PAD` and `UNPAD` of `Docs/Format.md` 2.4, which hide exact lengths and add at most 1/16 to a large body.
package enum Padding {
  /// The length of `PAD(step, p)` for a body of `count` bytes.
  package static func paddedCount(_ count: Int, step: Int) -> Int {
    let least = count + 1
    let bits = Int.bitWidth - least.leadingZeroBitCount
    let rounded = max(step, bits > 5 ? 1 << (bits - 5) : 1)
    return (least + rounded - 1) / rounded * rounded
  }

  /// Copies a body and appends the byte 0x80 and the zeros.
  package static func padded(_ body: RawSpan, step: Int) -> WipedBuffer {
    let buffer = WipedBuffer(copying: body, count: paddedCount(body.byteCount, step: step))
    unsafe buffer.bytes[body.byteCount] = 0x80
    return buffer
  }

  /// The length of the body in a padded buffer; `nil` if the padding is not exactly what ``padded(_:step:)`` writes.
  package static func unpaddedCount(_ buffer: RawSpan, step: Int) -> Int? {
    func byte(_ offset: Int) -> UInt8 { unsafe buffer.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    var end = buffer.byteCount
    // Up to a sixteenth of a large body is padding, so zeros are skipped eight bytes at a time.
    while end >= 8, unsafe buffer.unsafeLoadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
    while end > 0, byte(end - 1) == 0 { end -= 1 }
    guard end > 0, byte(end - 1) == 0x80 else { return nil }
    return paddedCount(end - 1, step: step) == buffer.byteCount ? end - 1 : nil
  }
}
