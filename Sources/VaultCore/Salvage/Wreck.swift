internal import VaultSealing

/// What stands where in a file whose checksum or structure may be wrong: found by what it looks like, not by the
/// lengths before it (`Docs/Format.md` section 4, salvage).
struct Wreck {
  let image: FileImage
  /// Everything at a slot's place that obeys the rules of slots, and every section. The manifest is where the header
  /// says; empty when the header cannot be right.
  let snapshot: Snapshot
  /// The slots that the header counts, byte for byte, as the manifest is bound to them.
  let slotBytes: [UInt8]
  /// Where entries may begin.
  let journalStart: Int

  init(_ image: FileImage) throws(VaultError) {
    let file = image.bytes
    let headEnd = Snapshot.headerCount + Slot.count
    guard file.count >= headEnd else { throw VaultError(.damaged, "the file is too short to hold anything") }
    let base = file.baseAddress!
    func integer<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
      I(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: I.self))
    }
    self.image = image
    var slots: [Slot] = []
    for index in 0..<Limits.slots {
      let start = Snapshot.headerCount + index * Slot.count
      guard start + Slot.count <= file.count else { break }
      let slot = Slot(UnsafeRawBufferPointer(rebasing: file[start..<start + Slot.count]))
      if slot.isPlausible(besides: slots) { slots.append(slot) }
    }
    let slotEnd = Snapshot.headerCount + min(Int(integer(12, UInt16.self)), Limits.slots) * Slot.count
    slotBytes = slotEnd <= file.count ? Array(file[Snapshot.headerCount..<slotEnd]) : []
    let manifestCount = integer(40, UInt64.self)
    let isManifestPlausible =
      manifestCount >= UInt64(Snapshot.sealedMinimum) && manifestCount <= UInt64(max(0, file.count - slotEnd))
    let sections = Self.sections(file, from: headEnd)
    let end = (sections.last?.range.upperBound ?? headEnd) + Snapshot.checksumCount
    let stated = integer(48, UInt64.self)
    journalStart = stated <= UInt64(file.count) ? max(Int(stated), end) : end
    snapshot = Snapshot(
      vaultID: Identifier(base + 16), generation: integer(32), slots: slots,
      manifest: isManifestPlausible ? slotEnd..<slotEnd + Int(manifestCount) : 0..<0, sections: sections, image: image)
  }

  /// Looks for heads of sections at every multiple of eight. What is sealed is random, and looks like one with a chance
  /// below 2^-64.
  private static func sections(_ file: UnsafeRawBufferPointer, from start: Int) -> [Snapshot.Section] {
    var sections: [Snapshot.Section] = []
    var position = start
    while position + Snapshot.sectionHeadCount + Snapshot.sealedMinimum <= file.count, sections.count < Limits.groups {
      var reader = ByteReader(UnsafeRawBufferPointer(rebasing: file[position...]))
      guard let section = Self.section(&reader, at: position, of: file.count) else {
        position += 8
        continue
      }
      sections.append(section)
      position = section.range.upperBound
    }
    return sections
  }

  private static func section(
    _ reader: inout ByteReader, at position: Int, of end: Int
  ) -> Snapshot.Section? {
    do throws(VaultError) {
      let id = try reader.identifier()
      let epoch = try reader.integer(UInt32.self)
      let zero = try reader.integer(UInt32.self)
      let count = try reader.integer(UInt64.self)
      guard id != .zero, (1..<(1 << 31)).contains(epoch), zero == 0, count % 8 == 0,
        count >= UInt64(Snapshot.sealedMinimum), count <= UInt64(reader.remaining)
      else { return nil }
      let start = position + Snapshot.sectionHeadCount
      return Snapshot.Section(
        id: id, epoch: epoch, range: position..<start + Int(count), sealed: start..<start + Int(count))
    } catch { return nil }
  }

  /// Calls `body` with what may be an entry of `group`, in the file's order; it answers whether it was one. Each byte is
  /// offered a bounded number of times: what was an entry is passed over.
  func forEachEntry(
    of group: Identifier, _ body: (_ sealed: UnsafeRawBufferPointer, _ isWhole: Bool) throws(VaultError) -> Bool
  ) throws(VaultError) {
    let bytes = image.bytes
    var position = journalStart
    // A hostile file cannot make this quadratic.
    var budget = 4 * bytes.count
    while position + JournalFrame.headCount <= bytes.count, budget > 0 {
      let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
      let zero = bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)
      guard zero == 0, Limits.entryBytes.contains(count), count % 8 == 0, position + count <= bytes.count,
        Identifier(bytes.baseAddress! + position + 8) == group
      else {
        position += 8
        continue
      }
      budget -= count
      let checked = UnsafeRawBufferPointer(rebasing: bytes[position..<position + count - JournalFrame.checkCount])
      let isWhole = Snapshot.checksum(checked) == Tag(checked.baseAddress! + checked.count)
      let sealed = UnsafeRawBufferPointer(rebasing: checked[JournalFrame.headCount...])
      position += try body(sealed, isWhole) || isWhole ? count : 8
    }
  }
}

extension Slot {
  /// Whether the rules of 3.2 and the limits of 3.10 hold with it.
  fileprivate func isPlausible(besides others: [Slot]) -> Bool {
    guard id != .zero, isKnown else { return false }
    do throws(VaultError) { try Slot.check(others + [self]) } catch { return false }
    return true
  }
}

extension Snapshot {
  /// What was found, right or not.
  fileprivate init(
    vaultID: Identifier, generation: UInt64, slots: [Slot], manifest: Range<Int>, sections: [Section], image: FileImage
  ) {
    (self.vaultID, self.generation, self.slots) = (vaultID, generation, slots)
    (self.manifest, self.sections, count) = (manifest, sections, image.count)
    boundHeader = Array(image.bytes[..<Self.boundHeaderCount])
    manifestTag =
      manifest.isEmpty ? .zero : Tag(image.bytes.baseAddress! + manifest.lowerBound + Sealer.tag.lowerBound)
  }
}
