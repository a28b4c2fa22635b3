@testable import VaultCore

/// A whole file without any key: header, slots, structure, journal. What is accepted is written again byte for byte.
///
/// The file is tried as it is, and with a right checksum, so that the parser behind that is reached. A snapshot_len
/// that cannot be is taken to mean that the snapshot is all there is.
struct HeaderTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    let file = Array(input)
    let corrected = Self.corrected(file)
    try check(corrected)
    if corrected != file { try check(file) }
  }

  private func check(_ file: [UInt8]) throws {
    let image = FileImage(file)
    let parsed = try agreement(
      "a file", { () throws(VaultError) in try Self.parsed(image) },
      { () throws(VaultError) in try ReferenceFile(file) })
    guard let ((snapshot, frame), expected) = parsed else { return }

    try expected.frame.compare(with: frame)
    try demand(snapshot.vaultID.bytes == expected.vaultID, "the vault's id")
    try demand(snapshot.generation == expected.generation, "the vault's generation")
    try demand(image[snapshot.manifest].copy == expected.manifest, "the manifest")
    try demand(
      snapshot.manifestTag.withSpan { $0.copy.elementsEqual(expected.manifest[24..<56]) }, "the manifest's tag")
    try demand(snapshot.sections.map(\.id.bytes) == expected.sections.map(\.id), "the sections' ids")
    try demand(snapshot.sections.allSatisfy { snapshot.section($0.id)?.range == $0.range }, "a section by its id")
    try demand(Self.written(snapshot, frame, image) == file, "a file is not written as it was read")
  }

  /// As a load does before it uses a credential.
  private static func parsed(_ image: FileImage) throws(VaultError) -> (Snapshot, JournalFrame) {
    let snapshot = try Snapshot(image)
    let frame = try JournalFrame(image.span, from: snapshot.count, groups: Set(snapshot.sections.map(\.id)))
    if frame.isDamaged { throw VaultError(.damaged, "the journal") }
    try snapshot.slots.check()
    return (snapshot, frame)
  }

  /// The same file with a right checksum.
  static func corrected(_ file: [UInt8]) -> [UInt8] {
    guard file.count >= 88 else { return file }
    var file = file
    var length = ReferenceReader.number(file[48..<56])
    if length < 88 || length > UInt64(file.count) {
      length = UInt64(file.count)
      file.replaceSubrange(48..<56, with: withUnsafeBytes(of: length.littleEndian) { Array($0) })
    }
    let end = Int(length) - 32
    file.replaceSubrange(end..<end + 32, with: ReferenceFrame.hash(file[..<end]))
    return file
  }

  /// The file again, from what was parsed.
  private static func written(_ snapshot: Snapshot, _ frame: JournalFrame, _ image: FileImage) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(Snapshot.magic)
    let flags = snapshot.isLogged ? 1 : 0
    for count in [1, flags, snapshot.slots.count, snapshot.sections.count] { writer.integer(UInt16(count)) }
    writer.raw(snapshot.vaultID)
    writer.integer(snapshot.generation)
    writer.integer(UInt64(snapshot.manifest.count))
    writer.integer(UInt64(snapshot.count))
    for slot in snapshot.slots { writer.raw(slot.bytes) }
    writer.raw(image[snapshot.manifest])
    for section in snapshot.sections {
      writer.raw(section.id)
      writer.integer(section.epoch)
      writer.integer(UInt32(0))
      writer.integer(UInt64(section.sealed.count))
      writer.raw(image[section.sealed])
    }
    writer.raw(ReferenceFrame.hash(writer.bytes[...]))
    for entry in frame.entries { writer.raw(image[entry.range]) }
    writer.raw(image[frame.tail..<frame.tornEnd])
    writer.zeros(image.count - frame.tornEnd)
    return writer.bytes
  }
}
