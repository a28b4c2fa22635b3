/// A vault file taken apart without a key: header, slots, sections, entries (section 3, 4.1).
struct ReadVault {
  struct Slot {
    let bytes: Bytes
    var kind: UInt8 { bytes[0] }
    var isOwner: Bool { bytes[1] == 0 }
    var head: Bytes { Bytes(bytes[..<64]) }
    var id: Bytes { Bytes(bytes[8..<24]) }
    var groupID: Bytes { Bytes(bytes[24..<40]) }
    var salt: Bytes { Bytes(bytes[48..<64]) }
    func word(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    var epoch: UInt32 { word(4) }
  }

  struct Section {
    let id: Bytes
    let epoch: UInt32
    let sealed: Bytes
  }

  struct Entry {
    let group: Bytes
    let sealed: Bytes
  }

  /// Feature flag bit 0 (annex F.1).
  let isLogged: Bool
  let vaultID: Bytes
  let generation: UInt64
  /// Bytes 0–47 of the header.
  let boundHeader: Bytes
  let slots: [Slot]
  let manifest: Bytes
  let sections: [Section]
  private(set) var entries: [Entry] = []
  private(set) var hasTornTail = false

  init(_ file: Bytes) throws {
    var cursor = Cursor(file)
    try require(try cursor.take(8) == [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A], "the magic")
    try require(try cursor.integer(UInt16.self) == 1, "the version")
    let flags: UInt16 = try cursor.integer()
    try require(flags <= 1, "the feature flags")
    isLogged = flags == 1
    let slotCount = try cursor.integer(UInt16.self)
    let groupCount = try cursor.integer(UInt16.self)
    vaultID = try cursor.take(16)
    generation = try cursor.integer()
    let manifestCount = Int(try cursor.integer(UInt64.self))
    let snapshotCount = Int(try cursor.integer(UInt64.self))
    try require(snapshotCount >= 88 && snapshotCount <= file.count, "snapshot_len")
    boundHeader = Bytes(file[..<48])
    slots = try (0..<slotCount).map { _ in Slot(bytes: try cursor.take(168)) }
    manifest = try cursor.take(manifestCount)
    sections = try (0..<groupCount).map { _ in
      let id = try cursor.take(16)
      let epoch = try cursor.integer(UInt32.self)
      try require(try cursor.integer(UInt32.self) == 0, "a section's reserved word")
      return Section(id: id, epoch: epoch, sealed: try cursor.take(Int(try cursor.integer(UInt64.self))))
    }
    try require(cursor.position == snapshotCount - 32, "the end of the snapshot")
    try require(try cursor.take(32) == Sealing.hash(32, Bytes(file[..<(snapshotCount - 32)])), "the checksum")
    try frame(Bytes(file[snapshotCount...]))
  }

  private mutating func frame(_ journal: Bytes) throws {
    var start = 0
    while let count = Self.entryCount(journal, start) {
      var cursor = Cursor(Bytes(journal[start + 4..<start + count - 32]))
      try require(try cursor.integer(UInt32.self) == 0, "an entry's reserved word")
      entries.append(Entry(group: try cursor.take(16), sealed: try cursor.take(cursor.remaining)))
      start += count
    }
    hasTornTail = journal[start...].contains { $0 != 0 }
  }

  /// The length of an entry with a right check.
  private static func entryCount(_ journal: Bytes, _ start: Int) -> Int? {
    guard start + 384 <= journal.count else { return nil }
    let count = journal[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
    guard count >= 384, count.isMultiple(of: 8), start + count <= journal.count else { return nil }
    let check = Sealing.hash(32, Bytes(journal[start..<start + count - 32]))
    return Bytes(journal[start + count - 32..<start + count]) == check ? count : nil
  }
}
