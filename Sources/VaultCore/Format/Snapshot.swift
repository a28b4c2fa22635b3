internal import VaultSealing

/// What the snapshot of a file says without any key: steps 2 and 3 of `Docs/Format.md` section 4.
struct Snapshot: Sendable {
  static let magic: [UInt8] = [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]
  static let headerCount = 56
  /// The part of the header that the manifest is bound to; snapshot_len behind it may change in a holder's fold.
  static let boundHeaderCount = 48
  static let checksumCount = 32
  static let sectionHeadCount = 32
  /// The least length of a sealed manifest or section: one padding step and the seal.
  static let sealedMinimum = 1096

  /// Where one group's section stands.
  struct Section: Sendable {
    let id: Vault.Identifier
    let epoch: UInt32
    /// Head and sealed part together.
    let range: Range<Int>
    /// The sealed part.
    let sealed: Range<Int>
  }

  let vaultID: Vault.Identifier
  let generation: UInt64
  let slots: [Slot]
  let manifest: Range<Int>
  let sections: [Section]
  /// The length of the snapshot with its checksum; the journal starts here.
  let count: Int
  /// Bytes 0–47 of the file.
  let boundHeader: [UInt8]
  /// The tag of the sealed manifest.
  let manifestTag: Vault.Tag

  init(_ image: FileImage) throws(VaultError) {
    let file = image.bytes
    guard file.count >= Self.magic.count, file.prefix(Self.magic.count).elementsEqual(Self.magic) else {
      throw VaultError(.notAVault, "the file does not start like a vault")
    }
    let damaged = VaultError(.damaged, "the snapshot's checksum or length does not fit: cut or changed on the way")
    guard file.count >= Self.headerCount + Self.checksumCount else { throw damaged }
    let base = file.baseAddress!
    func u16(_ offset: Int) -> UInt16 {
      UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
    func u64(_ offset: Int) -> UInt64 {
      UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    guard u16(8) == 1 else { throw VaultError(.unsupportedVersion, "format version \(u16(8))") }
    guard u16(10) == 0 else { throw VaultError(.unsupportedFeature, "an unknown feature flag") }
    let length = u64(48)
    guard length >= UInt64(Self.headerCount + Self.checksumCount), length <= UInt64(file.count) else { throw damaged }
    count = Int(length)
    let end = count - Self.checksumCount
    guard Self.checksum(UnsafeRawBufferPointer(rebasing: file[..<end]).bytes) == Vault.Tag(base + end) else {
      throw damaged
    }

    let slotCount = Int(u16(12))
    let groupCount = Int(u16(14))
    guard slotCount <= Vault.Limits.slots else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.slots) slots")
    }
    guard groupCount <= Vault.Limits.groups else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.groups) groups")
    }

    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: file[16..<end]))
    vaultID = try reader.identifier()
    generation = try reader.generation()
    let manifestCount = try reader.integer(UInt64.self)
    _ = try reader.integer(UInt64.self)  // snapshot_len
    var slots: [Slot] = []
    for _ in 0..<slotCount { slots.append(Slot(try reader.bytes(Slot.count))) }
    self.slots = slots
    manifest = try Self.sealed(manifestCount, &reader, base)
    var sections: [Section] = []
    for _ in 0..<groupCount {
      let start = reader.position - base
      let id = try reader.identifier()
      let epoch = try reader.integer(UInt32.self)
      let zero = try reader.integer(UInt32.self)
      let sealedCount = try reader.integer(UInt64.self)
      guard id > (sections.last?.id ?? .zero), (1..<(1 << 31)).contains(epoch), zero == 0 else {
        throw .malformed("a section's head")
      }
      let sealed = try Self.sealed(sealedCount, &reader, base)
      sections.append(Section(id: id, epoch: epoch, range: start..<sealed.upperBound, sealed: sealed))
    }
    try reader.finish()
    self.sections = sections
    boundHeader = Array(file[..<Self.boundHeaderCount])
    manifestTag = Vault.Tag(base + manifest.lowerBound + Sealer.tag.lowerBound)
  }

  /// The slots' bytes, which the manifest is bound to.
  var slotBytes: [UInt8] { slots.flatMap(\.bytes) }

  func section(_ id: Vault.Identifier) -> Section? { sections.first { $0.id == id } }

  static func checksum(_ bytes: RawSpan) -> Vault.Tag {
    withUnsafeTemporaryAllocation(byteCount: Vault.Tag.count, alignment: 8) { out in
      VaultSealing.checksum(bytes, into: out)
      return Vault.Tag(out.baseAddress!)
    }
  }

  private static func sealed(
    _ count: UInt64, _ reader: inout ByteReader, _ base: UnsafeRawPointer
  ) throws(VaultError) -> Range<Int> {
    guard count <= UInt64(reader.remaining), count >= UInt64(sealedMinimum), count % 8 == 0 else {
      throw .malformed("the length of a sealed part")
    }
    let bytes = try reader.bytes(Int(count))
    let start = bytes.baseAddress! - base
    return start..<start + bytes.count
  }
}
