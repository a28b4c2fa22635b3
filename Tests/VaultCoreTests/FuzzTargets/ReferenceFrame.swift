@testable import VaultCore
@testable import VaultSealing

/// The framing of a journal by section 4.1 of `Docs/Format.md`.
struct ReferenceFrame {
  private(set) var entries: [Range<Int>] = []
  let tail: Int
  /// Behind the last byte that is not zero, but not before the tail.
  let tornEnd: Int
  let isDamaged: Bool

  init(_ bytes: [UInt8], from start: Int, groups: [[UInt8]]) throws(VaultError) {
    var p = start
    while p + 24 <= bytes.count, let count = Self.plausibleCount(bytes, p), p + count <= bytes.count,
      Self.hash(bytes[p..<p + count - 32]) == Array(bytes[p + count - 32..<p + count])
    {
      guard bytes[p + 4..<p + 8].allSatisfy({ $0 == 0 }), groups.contains(Array(bytes[p + 8..<p + 24])) else {
        throw .malformed("an entry's head")
      }
      entries.append(p..<p + count)
      p += count
    }
    tail = p
    let end = bytes[p...].lastIndex { $0 != 0 }.map { $0 + 1 } ?? p
    tornEnd = end
    let heads = stride(from: p + 8, through: bytes.count - 24, by: 8).filter { q in
      Self.plausibleCount(bytes, q) != nil && bytes[q + 4..<q + 8].allSatisfy { $0 == 0 }
        && groups.contains(Array(bytes[q + 8..<q + 24]))
    }
    isDamaged = end > p && !heads.isEmpty
  }

  private static func plausibleCount(_ bytes: [UInt8], _ offset: Int) -> Int? {
    let count = Int(ReferenceReader.number(bytes[offset..<offset + 4]))
    return count % 8 == 0 && count >= 384 && count <= 33_554_432 ? count : nil
  }

  static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let sum = VaultSealing.checksum(bytes.span.bytes)
    return sum.indices.map { sum[$0] }
  }

  /// Requires a frame to be this one.
  func compare(with found: JournalFrame) throws {
    try demand(found.entries.map(\.range) == entries, "the entries")
    try demand(found.tail == tail, "the tail")
    try demand(found.tornEnd == tornEnd, "the end of the torn tail")
    try demand(found.isDamaged == isDamaged, "whether the journal is damaged")
  }
}
