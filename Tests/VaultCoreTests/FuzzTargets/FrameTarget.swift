@testable import VaultCore

/// The bytes of a journal of the groups 1… and 2…, whose framing needs no key.
///
/// The check of every entry is made right, so that what is behind it is reached, unless it begins with FF.
struct FrameTarget: FuzzTarget {
  private static let ids = [1, 2].map { [UInt8](repeating: $0, count: Vault.Identifier.count) }

  func check(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Self.corrected(Array(input))
    let parsed = try agreement(
      "a journal", { () throws(VaultError) in try Self.frame(bytes) },
      { () throws(VaultError) in try ReferenceFrame(bytes, from: 0, groups: Self.ids) })
    guard let (whole, expected) = parsed else { return }
    try expected.compare(with: whole)

    let ranges = whole.entries.map(\.range)
    // Reading on from behind an entry finds the rest.
    for (index, range) in ranges.enumerated() {
      let rest = try Self.frame(bytes, from: range.upperBound)
      try demand(rest.entries.map(\.range) == Array(ranges[(index + 1)...]), "the entries behind an entry")
      try demand(rest.tail == whole.tail && rest.isDamaged == whole.isDamaged, "the tail behind an entry")
    }
    // More reserve means nothing.
    let longer = try Self.frame(bytes + [UInt8](repeating: 0, count: 64))
    try demand(longer.tail == whole.tail && longer.tornEnd == whole.tornEnd, "the tail before more zeros")
    // A file that was cut shows the first of its entries, and no others.
    for cut in [bytes.count / 2, whole.tail - 1, bytes.count - 1] where cut >= 0 {
      let part = try Self.frame(Array(bytes[..<cut]))
      try demand(part.entries.map(\.range) == ranges.filter { $0.upperBound <= cut }, "the entries before a cut")
    }
  }

  private static func frame(_ bytes: [UInt8], from start: Int = 0) throws(VaultError) -> JournalFrame {
    let image = FileImage(bytes)
    return try JournalFrame(image.span, from: start, groups: Set(ids.map { Vault.Identifier($0) }))
  }

  private static func corrected(_ bytes: [UInt8]) -> [UInt8] {
    var (bytes, p) = (bytes, 0)
    while p + 24 <= bytes.count {
      let count = Int(ReferenceReader.number(bytes[p..<p + 4]))
      guard count >= 384, p + count <= bytes.count, bytes[p + count - 32] != 0xFF else { break }
      bytes.replaceSubrange(
        p + count - 32..<p + count, with: ReferenceFrame.hash(bytes[p..<p + count - 32]))
      p += count
    }
    return bytes
  }
}
