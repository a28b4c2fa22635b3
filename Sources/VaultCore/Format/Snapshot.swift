internal import VaultSealing

/// The parts of a snapshot that can be read without a key: steps 2 and 3 of `Docs/Format.md` section 4.
struct Snapshot: Sendable {
  static let magic: [UInt8] = [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]
  static let headerCount = 56
  /// The length of the part of the header to which the manifest is bound. A holder's fold may change snapshot_len,
  /// which follows.
  static let boundHeaderCount = 48
  static let checksumCount = 32
  /// The feature flag of a vault whose reads and writes are, or were, logged.
  static let loggedFlag: UInt16 = 1
  static let sectionHeadCount = 32
  /// The least length of a sealed manifest or section: one padding step and the seal.
  static let sealedMinimum = 1096

  /// The position of one group's section.
  struct Section: Sendable {
    let id: Vault.Identifier
    let epoch: UInt32
    /// Header and sealed part together.
    let range: Range<Int>
    /// The sealed part.
    let sealed: Range<Int>
  }

  let vaultID: Vault.Identifier
  let generation: UInt64
  let slots: [StoredSlot]
  let manifest: Range<Int>
  let sections: [Section]
  /// The length of the snapshot with its checksum; the journal starts here.
  let count: Int
  /// Feature flag bit 0: the file may have logs, and only a removed flag explains a log item without it (annex F).
  let isLogged: Bool
  /// Bytes 0–47 of the file.
  let boundHeader: [UInt8]
  /// The tag of the sealed manifest.
  let manifestTag: Vault.Tag

  init(_ image: FileImage) throws(VaultError) {
    let file = image.span
    guard file.byteCount > 0 else { throw VaultError(.notAVault, "the file is not a vault: it is empty") }
    guard file.starts(with: Self.magic) else {
      throw VaultError(.notAVault, "the file is not a vault: \(Self.difference(of: file))")
    }
    let damaged = VaultError(
      .damaged, "the snapshot has the wrong checksum or length: the file was truncated or changed")
    guard file.byteCount >= Self.headerCount + Self.checksumCount else { throw damaged }
    let version = file.integer(at: 8, UInt16.self)
    guard version == 1 else { throw VaultError(.unsupportedVersion, "format version \(version)") }
    let flags = file.integer(at: 10, UInt16.self)
    guard flags & ~Self.loggedFlag == 0 else { throw VaultError(.unsupportedFeature, "an unknown feature flag") }
    isLogged = flags & Self.loggedFlag != 0
    let length = file.integer(at: 48, UInt64.self)
    guard length >= UInt64(Self.headerCount + Self.checksumCount), length <= UInt64(file.byteCount) else {
      throw damaged
    }
    count = Int(length)
    let end = count - Self.checksumCount
    guard Self.checksum(file.extracting(..<end)) == Vault.Tag(file, at: end) else {
      throw damaged
    }

    let slotCount = Int(file.integer(at: 12, UInt16.self))
    let groupCount = Int(file.integer(at: 14, UInt16.self))
    guard slotCount <= Vault.Limits.slots else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.slots) slots")
    }
    guard groupCount <= Vault.Limits.groups else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.groups) groups")
    }

    vaultID = Vault.Identifier(file, at: 16)
    generation = try Vault.Limits.checkedGeneration(file.integer(at: 32))
    var position = Self.headerCount
    var slots: [StoredSlot] = []
    for _ in 0..<slotCount {
      guard StoredSlot.count <= end - position else { throw .endsEarly }
      slots.append(StoredSlot(file.extracting(position..<position + StoredSlot.count)))
      position += StoredSlot.count
    }
    self.slots = slots
    manifest = try Self.sealed(file.integer(at: 40), from: position, to: end)
    position = manifest.upperBound
    var sections: [Section] = []
    for _ in 0..<groupCount {
      guard Self.sectionHeadCount <= end - position else { throw .endsEarly }
      let id = Vault.Identifier(file, at: position)
      let epoch = file.integer(at: position + 16, UInt32.self)
      let zero = file.integer(at: position + 20, UInt32.self)
      guard id > (sections.last?.id ?? .zero), (1..<(1 << 31)).contains(epoch), zero == 0 else {
        throw .malformed("a section's head")
      }
      let sealed = try Self.sealed(file.integer(at: position + 24), from: position + Self.sectionHeadCount, to: end)
      sections.append(Section(id: id, epoch: epoch, range: position..<sealed.upperBound, sealed: sealed))
      position = sealed.upperBound
    }
    guard position == end else { throw .endsLate }
    self.sections = sections
    boundHeader = file.extracting(..<Self.boundHeaderCount).copy
    manifestTag = Vault.Tag(file, at: manifest.lowerBound + Sealer.tag.lowerBound)
  }

  /// The slots' bytes, which the manifest is bound to.
  var slotBytes: [UInt8] { slots.flatMap(\.bytes) }

  func section(_ id: Vault.Identifier) -> Section? { sections.first { $0.id == id } }

  /// How the first bytes of a file differ from those of a vault. They have a CR LF and an LF, which show whether a
  /// program has converted line ends.
  private static func difference(of file: RawSpan) -> String {
    let start = file.extracting(..<min(file.byteCount, 2 * magic.count)).copy
    let isConverted = start.filter { $0 != 0x0D }.starts(with: magic.filter { $0 != 0x0D })
    return isConverted
      ? "its line ends were converted, as git does for text or eol in .gitattributes: write \"*.spv -text\" there, and "
        + "take a copy that was not converted"
      : "it begins with other bytes"
  }

  /// Whether a group has this epoch. A damaged file may have several sections of one id.
  func hasSection(_ id: Vault.Identifier, epoch: UInt32) -> Bool {
    sections.contains { $0.id == id && $0.epoch == epoch }
  }

  static func checksum(_ bytes: RawSpan) -> Vault.Tag {
    let sum = VaultSealing.checksum(bytes)
    return Vault.Tag(unsafe sum.span.bytes)
  }

  /// The range of a sealed part with a stated length that begins at `start`.
  private static func sealed(_ count: UInt64, from start: Int, to end: Int) throws(VaultError) -> Range<Int> {
    guard count <= UInt64(end - start), count >= UInt64(sealedMinimum), count % 8 == 0 else {
      throw .malformed("the length of a sealed part")
    }
    return start..<start + Int(count)
  }
}
