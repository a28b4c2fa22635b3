internal import VaultSealing

/// What stands where in a file whose checksum or structure may be wrong: found by what it looks like, not by the
/// lengths before it (`Docs/Format.md` section 4, salvage).
struct DamagedFile {
  /// What may be a journal entry.
  struct Entry {
    let range: Range<Int>
    /// Whether its check is right.
    let isWhole: Bool

    var sealed: Range<Int> {
      range.lowerBound + JournalFrame.headCount..<range.upperBound - JournalFrame.checkCount
    }
  }

  let image: FileImage
  /// Everything at a slot's place that obeys the rules of slots, and what may be sections, of which several may have one
  /// id. The manifest is where the header says; empty when the header cannot be right.
  let snapshot: Snapshot
  /// The slots that the header counts, byte for byte, as the manifest is bound to them.
  let statedSlots: [Slot]
  /// Of each group, in the file's order; of those that are not whole some may lie inside others.
  let entries: [Vault.Identifier: [Entry]]
  /// Where the last entry of any group begins whose check is right.
  let lastWholeEntry: Int

  init(_ image: FileImage) throws(VaultError) {
    let file = image.bytes
    let headEnd = Snapshot.headerCount + Slot.count
    guard file.count >= headEnd else { throw VaultError(.damaged, "the file is too short to hold anything") }
    let base = file.baseAddress!
    func integer<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
      I(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: I.self))
    }
    func slotEnd(_ count: Int) -> Int { Snapshot.headerCount + count * Slot.count }
    self.image = image

    var slots: [Slot] = []
    var foundCount = 0
    for index in 0..<Vault.Limits.slots where slotEnd(index + 1) <= file.count {
      let slot = Slot(UnsafeRawBufferPointer(rebasing: file[slotEnd(index)..<slotEnd(index + 1)]))
      guard slot.isPlausible(besides: slots) else { continue }
      slots.append(slot)
      foundCount = index + 1
    }
    let statedCount = min(Int(integer(12, UInt16.self)), Vault.Limits.slots)
    statedSlots = (0..<statedCount).prefix { slotEnd($0 + 1) <= file.count }.map { index in
      Slot(UnsafeRawBufferPointer(rebasing: file[slotEnd(index)..<slotEnd(index + 1)]))
    }

    let sections = Self.sections(file, from: headEnd, snapshotCount: integer(48))
    let manifestCount = integer(40, UInt64.self)
    let isPlausible = manifestCount >= UInt64(Snapshot.sealedMinimum) && manifestCount <= UInt64(file.count)
    var slotCount = max(statedCount, foundCount)
    if isPlausible, let first = sections.first {
      // The three lengths must agree; where they do, they are right.
      let rest = first.range.lowerBound - Int(manifestCount) - Snapshot.headerCount
      if rest >= 0, rest % Slot.count == 0, rest / Slot.count <= Vault.Limits.slots { slotCount = rest / Slot.count }
    }
    let manifestStart = slotEnd(slotCount)
    let hasManifest = isPlausible && manifestCount <= UInt64(max(0, file.count - manifestStart))
    snapshot = Snapshot(
      vaultID: Vault.Identifier(base + 16), generation: integer(32), slots: slots,
      manifest: hasManifest ? manifestStart..<manifestStart + Int(manifestCount) : 0..<0, sections: sections,
      image: image,
      // Its place does not depend on its length.
      manifestTag: manifestStart + Sealer.tag.upperBound <= file.count
        ? Vault.Tag(base + manifestStart + Sealer.tag.lowerBound) : .zero)
    entries = Self.entries(file, from: headEnd, groups: Set(sections.map(\.id)))
    lastWholeEntry = entries.values.joined().filter(\.isWhole).map(\.range.lowerBound).max() ?? 0
  }

  // MARK: Sections

  /// Looks for heads of sections at every multiple of eight. What is sealed is random, and looks like one with a chance
  /// below 2^-64.
  private static func sections(
    _ file: UnsafeRawBufferPointer, from start: Int, snapshotCount: UInt64
  ) -> [Snapshot.Section] {
    let heads = stride(from: start, through: file.count - Snapshot.sectionHeadCount, by: 8).lazy
      .compactMap { head(file, at: $0) }.prefix(4 * Vault.Limits.groups)
    let all = Array(heads)
    let starts = Set(all.map(\.start))
    var sections: [Snapshot.Section] = []
    var reached = 0
    for (index, head) in all.enumerated() where head.start >= reached {
      let first = head.start + Snapshot.sectionHeadCount
      let stated = first + head.count
      // A length that leads to another head, or to the checksum, is right; and what looks like a head before that is
      // something a key holder sealed. Any other length must not take along what stands behind, and may be too short:
      // then the group's seal tells which of the two it is.
      let isSnapshotPlausible = snapshotCount > UInt64(stated) && snapshotCount <= UInt64(file.count)
      let end = isSnapshotPlausible ? Int(snapshotCount) - Snapshot.checksumCount : file.count
      let next = index + 1 < all.count ? all[index + 1].start : max(end, min(stated, file.count))
      let isRight = starts.contains(stated) || UInt64(stated + Snapshot.checksumCount) == snapshotCount
      let ends = isRight && stated <= file.count ? [stated] : stated < next ? [stated, next] : [next]
      for end in ends where end - first > Sealer.overhead {
        sections.append(
          Snapshot.Section(id: head.id, epoch: head.epoch, range: head.start..<end, sealed: first..<end))
      }
      reached = ends[ends.count - 1]
    }
    return sections
  }

  private static func head(
    _ file: UnsafeRawBufferPointer, at start: Int
  ) -> (start: Int, id: Vault.Identifier, epoch: UInt32, count: Int)? {
    let base = file.baseAddress! + start
    let zero = base.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
    let epoch = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
    let count = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    let id = Vault.Identifier(base)
    guard zero == 0, (1..<(1 << 31)).contains(epoch), count % 8 == 0, count >= UInt64(Snapshot.sealedMinimum),
      count <= UInt64(Vault.Limits.format.fileBytes), id != .zero
    else { return nil }
    return (start, id, epoch, Int(count))
  }

  // MARK: Entries

  /// Looks for entries at every multiple of eight, wherever the snapshot may end.
  private static func entries(
    _ file: UnsafeRawBufferPointer, from start: Int, groups: Set<Vault.Identifier>
  ) -> [Vault.Identifier: [Entry]] {
    var entries: [Vault.Identifier: [Entry]] = [:]
    var position = start
    // A hostile file cannot make this quadratic.
    var budget = 4 * file.count
    while position + JournalFrame.headCount <= file.count, budget > 0 {
      let base = file.baseAddress! + position
      let count = Int(UInt32(littleEndian: base.loadUnaligned(as: UInt32.self)))
      guard base.loadUnaligned(fromByteOffset: 4, as: UInt32.self) == 0, Vault.Limits.entryBytes.contains(count),
        count % 8 == 0, position + count <= file.count, groups.contains(Vault.Identifier(base + 8))
      else {
        position += 8
        continue
      }
      budget -= count
      let range = position..<position + count
      let checked = UnsafeRawBufferPointer(rebasing: file[range].dropLast(JournalFrame.checkCount))
      let isWhole = Snapshot.checksum(checked.bytes) == Vault.Tag(checked.baseAddress! + checked.count)
      entries[Vault.Identifier(base + 8), default: []].append(Entry(range: range, isWhole: isWhole))
      position += isWhole ? count : 8
    }
    return entries
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
    vaultID: Vault.Identifier, generation: UInt64, slots: [Slot], manifest: Range<Int>, sections: [Section],
    image: FileImage, manifestTag: Vault.Tag
  ) {
    (self.vaultID, self.generation, self.slots) = (vaultID, generation, slots)
    (self.manifest, self.sections, self.manifestTag) = (manifest, sections, manifestTag)
    count = image.count
    boundHeader = Array(image.bytes[..<Self.boundHeaderCount])
  }
}
