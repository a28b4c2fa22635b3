internal import CQRCodes
internal import VaultCore
internal import VaultSealing

/// The QR code of a value, in guarded memory.
struct QRCode: ~Copyable {
  /// The longest value: that of the largest code with the lowest error correction (ISO/IEC 18004, version 40-L).
  static let longestValue = 2953
  /// The width of the light border that a reader needs.
  private static let border = 4

  /// The number of modules of a side, with the border.
  let size: Int
  private let bytes: SecretBytes

  /// Makes the smallest code, with as much error correction as fits in it. A screen, unlike paper, needs no more.
  init(_ value: UnsafeRawBufferPointer) throws(VaultError) {
    let length = cqrcodes_buffer_length
    var work = try SecretBytes(count: length)
    var code = try SecretBytes(count: length)
    guard value.count <= Self.longestValue else {
      throw VaultError(.valueTooLarge, "the value is longer than a QR code can hold (\(Self.longestValue) bytes)")
    }
    let isMade = work.withUnsafeMutableBytes { work in
      work.copyMemory(from: value)
      return code.withUnsafeMutableBytes { code in
        qrcodegen_encodeBinary(
          work.baseAddress!.assumingMemoryBound(to: UInt8.self), value.count,
          code.baseAddress!.assumingMemoryBound(to: UInt8.self), qrcodegen_Ecc_LOW, qrcodegen_VERSION_MIN,
          qrcodegen_VERSION_MAX, qrcodegen_Mask_AUTO, true)
      }
    }
    guard isMade else { throw VaultError(.valueTooLarge, "the value is longer than a QR code can hold") }
    size = code.withUnsafeBytes {
      Int(qrcodegen_getSize($0.baseAddress!.assumingMemoryBound(to: UInt8.self))) + 2 * Self.border
    }
    bytes = code
  }

  /// Whether a module is dark. Modules outside of the code are light.
  private func isDark(_ row: Int, _ column: Int) -> Bool {
    bytes.withUnsafeBytes {
      qrcodegen_getModule(
        $0.baseAddress!.assumingMemoryBound(to: UInt8.self), Int32(column - Self.border), Int32(row - Self.border))
    }
  }

  /// Writes two rows of modules in each line, light ones as blocks.
  ///
  /// - Parameter isColored: Whether to set white on black: many readers do not recognize dark on light as inverted.
  func write(to output: SecretOutput, isColored: Bool) throws(ToolError) {
    for row in stride(from: 0, to: size, by: 2) {
      if isColored { try output.write("\u{1B}[40;37;1m") }
      for column in 0..<size {
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): try output.write(" ")
        case (true, false): try output.write("▄")
        case (false, true): try output.write("▀")
        case (false, false): try output.write("█")
        }
      }
      try output.write(isColored ? "\u{1B}[0m\n" : "\n")
    }
  }

  /// Writes the rows as JSON strings, in which 1 is a dark module.
  func writeJSON(to output: SecretOutput) throws(ToolError) {
    for row in 0..<size {
      try output.write(row == 0 ? "\"" : ",\"")
      for column in 0..<size { try output.write(isDark(row, column) ? "1" : "0") }
      try output.write("\"")
    }
  }
}
