/// Finds the entries of a journal without any key (`Docs/Format.md` 4.1).
struct JournalFrame: Sendable {
  static let headCount = 24
  static let checkCount = 32

  /// One whole entry with a valid check.
  struct Entry: Sendable {
    let group: Vault.Identifier
    /// Header, sealed part and check, as offsets into the bytes that were framed.
    let range: Range<Int>
    var sealed: Range<Int> { range.lowerBound + headCount..<range.upperBound - checkCount }
  }

  let entries: [Entry]
  /// The end of the entries, where the next one will be.
  let tail: Int
  /// The end of the broken bytes behind the tail; equal to the tail if the rest is zero.
  let tornEnd: Int
  /// Whether an entry header follows a broken entry, so that an acknowledged entry is damaged.
  let isDamaged: Bool

  var isTorn: Bool { tornEnd > tail }

  /// Frames `bytes` from `start`, where an entry or the reserve begins.
  ///
  /// - Parameter groups: the ids of the file's sections.
  init(_ bytes: RawSpan, from start: Int, groups: Set<Vault.Identifier>) throws(VaultError) {
    var entries: [Entry] = []
    var position = start
    while let count = Self.entryCount(bytes, position) {
      let group = Vault.Identifier(bytes, at: position + 8)
      guard bytes.integer(at: position + 4, UInt32.self) == 0, groups.contains(group) else {
        throw .malformed("the head of a journal entry")
      }
      let range = position..<position + count
      entries.append(Entry(group: group, range: range))
      position = range.upperBound
    }
    self.entries = entries
    tail = position
    tornEnd = Self.lastNonzero(bytes, from: position)
    isDamaged = tornEnd > position && Self.hasHead(bytes, behind: position, groups)
  }

  /// The length of the entry at `position`, if it is whole and its check is valid.
  private static func entryCount(_ bytes: RawSpan, _ position: Int) -> Int? {
    guard position + headCount <= bytes.byteCount, let count = plausibleCount(bytes, position),
      position + count <= bytes.byteCount
    else { return nil }
    let end = position + count - checkCount
    return Snapshot.checksum(bytes.extracting(position..<end)) == Vault.Tag(bytes, at: end) ? count : nil
  }

  private static func plausibleCount(_ bytes: RawSpan, _ position: Int) -> Int? {
    let count = Int(bytes.integer(at: position, UInt32.self))
    return Vault.Limits.entryBytes.contains(count) && count % 8 == 0 ? count : nil
  }

  /// Searches for headers without computing hashes, so that a hostile file costs linear time.
  private static func hasHead(
    _ bytes: RawSpan, behind position: Int, _ groups: Set<Vault.Identifier>
  ) -> Bool {
    for start in stride(from: position + 8, through: bytes.byteCount - headCount, by: 8)
    where plausibleCount(bytes, start) != nil && bytes.integer(at: start + 4, UInt32.self) == 0
      && groups.contains(Vault.Identifier(bytes, at: start + 8))
    { return true }
    return false
  }

  static func lastNonzero(_ bytes: RawSpan, from start: Int) -> Int {
    var end = bytes.byteCount
    while end >= start + 8, bytes.integer(at: end - 8, UInt64.self) == 0 { end -= 8 }
    while end > start, bytes.byte(at: end - 1) == 0 { end -= 1 }
    return end
  }
}
