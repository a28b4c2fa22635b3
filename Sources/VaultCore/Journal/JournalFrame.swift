/// Finds the entries of a journal without any key (`Docs/Format.md` 4.1).
struct JournalFrame: Sendable {
  static let headCount = 24
  static let checkCount = 32

  /// The place of an entry, as its first bytes state it.
  struct Entry: Sendable {
    let group: Vault.Identifier
    /// Header, sealed part and check, as offsets into the bytes that were framed.
    let range: Range<Int>
    private let reserved: UInt32

    var sealed: Range<Int> { range.lowerBound + headCount..<range.upperBound - checkCount }

    /// The entry at `position`; `nil` if the length field is not valid. It may end behind `bytes`.
    init?(_ bytes: RawSpan, at position: Int) {
      guard position + headCount <= bytes.byteCount else { return nil }
      let count = Int(bytes.integer(at: position, UInt32.self))
      guard Vault.Limits.entryBytes.contains(count), count % 8 == 0 else { return nil }
      range = position..<position + count
      reserved = bytes.integer(at: position + 4)
      group = Vault.Identifier(bytes, at: position + 8)
    }

    /// Whether the rest of the header is right, for a file whose sections have these ids.
    func hasHeader(of groups: Set<Vault.Identifier>) -> Bool { reserved == 0 && groups.contains(group) }

    /// Whether `bytes` have all of the entry, with a valid check.
    func isWhole(in bytes: RawSpan) -> Bool {
      let end = range.upperBound - checkCount
      return range.upperBound <= bytes.byteCount
        && Snapshot.checksum(bytes.extracting(range.lowerBound..<end)) == Vault.Tag(bytes, at: end)
    }
  }

  /// The whole entries.
  let entries: [Entry]
  /// The end of the entries, where the next one will be.
  let tail: Int
  /// The end of the broken bytes behind the tail; equal to the tail if the rest is zero.
  let tornEnd: Int
  /// Whether an entry header follows a broken entry, so that an acknowledged entry is damaged.
  let isDamaged: Bool
  /// `nil` if the rest is zero.
  let tornTail: Vault.TornTail?

  /// Frames `bytes` from `start`, where an entry or the reserve begins.
  ///
  /// - Parameter groups: the ids of the file's sections.
  init(_ bytes: RawSpan, from start: Int, groups: Set<Vault.Identifier>) throws(VaultError) {
    var entries: [Entry] = []
    var position = start
    while let entry = Entry(bytes, at: position), entry.isWhole(in: bytes) {
      guard entry.hasHeader(of: groups) else { throw .malformed("the head of a journal entry") }
      entries.append(entry)
      position = entry.range.upperBound
    }
    self.entries = entries
    tail = position
    tornEnd = Self.lastNonzero(bytes, from: position)
    tornTail = tornEnd > position ? Vault.TornTail(bytes, tail: position, end: tornEnd) : nil
    isDamaged = tornEnd > position && Self.hasHeader(bytes, behind: position, groups)
  }

  /// Searches for headers without computing hashes, so that a hostile file costs linear time.
  private static func hasHeader(_ bytes: RawSpan, behind position: Int, _ groups: Set<Vault.Identifier>) -> Bool {
    stride(from: position + 8, to: bytes.byteCount, by: 8).contains {
      Entry(bytes, at: $0)?.hasHeader(of: groups) == true
    }
  }

  static func lastNonzero(_ bytes: RawSpan, from start: Int) -> Int {
    var end = bytes.byteCount
    while end >= start + 8, bytes.integer(at: end - 8, UInt64.self) == 0 { end -= 8 }
    while end > start, bytes.byte(at: end - 1) == 0 { end -= 1 }
    return end
  }
}
