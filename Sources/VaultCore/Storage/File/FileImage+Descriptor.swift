internal import DurableFiles

extension FileImage {
  /// Reads a part of a file, or less if the file ends earlier.
  ///
  /// The file may have grown since its length was read, so the length is checked before memory is allocated for it.
  /// - Throws: ``VaultError/Code/limitExceeded``, ``VaultError/Code/io``.
  convenience init(_ descriptor: Descriptor, _ range: Range<Int>, limit: Int) throws(VaultError) {
    guard range.upperBound <= limit else {
      throw VaultError(.limitExceeded, "the file is longer than \(limit) bytes")
    }
    try unsafe self.init(capacity: range.count) { (buffer) throws(VaultError) in
      try unsafe descriptor.read(into: buffer, at: range.lowerBound)
    }
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
