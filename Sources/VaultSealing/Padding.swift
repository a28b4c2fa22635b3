/// `PAD` and `UNPAD` of `Docs/Format.md` 2.4, which hide exact lengths and add at most 1/16 to a large body.
package enum Padding {
  /// The length of `PAD(step, p)` for a body of `count` bytes.
  package static func paddedCount(_ count: Int, step: Int) -> Int {
    let least = count + 1
    let bits = Int.bitWidth - least.leadingZeroBitCount
    let rounded = max(step, bits > 5 ? 1 << (bits - 5) : 1)
    return (least + rounded - 1) / rounded * rounded
  }

  /// Writes the padding behind a body of `count` bytes. `buffer` has the padded length.
  package static func pad(_ buffer: UnsafeMutableRawBufferPointer, from count: Int) {
    unsafe buffer[count] = 0x80
    let zeros = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[(count + 1)...])
    if let base = zeros.baseAddress {
      unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: zeros.count)
    }
  }

  /// The length of the body in a padded buffer; `nil` if the padding is not exactly what `pad` writes.
  package static func unpaddedCount(_ buffer: UnsafeRawBufferPointer, step: Int) -> Int? {
    var end = buffer.count
    while end > 0, unsafe buffer[end - 1] == 0 { end -= 1 }
    guard end > 0, unsafe buffer[end - 1] == 0x80 else { return nil }
    return paddedCount(end - 1, step: step) == buffer.count ? end - 1 : nil
  }
}
