internal import VaultSealing

/// The parts of a file whose checksum or structure may be wrong, found by their form instead of by the lengths before
/// them (`Docs/Format.md` section 4, salvage).
struct DamagedFile {
  /// A possible journal entry.
  struct PossibleEntry {
    let place: JournalFrame.Entry
    /// Whether its check is valid.
    let isWhole: Bool
  }

  let image: FileImage
  /// The slots that obey the rules, and the possible sections, of which several may have the same id. The manifest is
  /// at the position in the header; it is empty if the header is not plausible.
  let snapshot: Snapshot
  /// The slots that the header counts, byte for byte, because the manifest is bound to them.
  let statedSlots: [StoredSlot]
  /// The entries of each group, in the order of the file. Entries that are not whole may overlap others.
  let entries: [Vault.Identifier: [PossibleEntry]]
  /// The offset of the last possible entry of any group.
  let lastEntry: Int
  /// The broken bytes behind the last whole entry, if the journal's place is known.
  let tornTail: Vault.TornTail?

  init(_ image: FileImage) throws(VaultError) {
    let file = image.span
    let headEnd = Snapshot.headerCount + StoredSlot.count
    guard file.byteCount >= headEnd else { throw VaultError(.damaged, "the file is too short to contain anything") }
    func slotEnd(_ count: Int) -> Int { Snapshot.headerCount + count * StoredSlot.count }
    self.image = image

    var slots: [StoredSlot] = []
    var foundCount = 0
    for index in 0..<Vault.Limits.slots where slotEnd(index + 1) <= file.byteCount {
      let slot = StoredSlot(file.extracting(slotEnd(index)..<slotEnd(index + 1)))
      guard slot.isPlausible(besides: slots) else { continue }
      slots.append(slot)
      foundCount = index + 1
    }
    let statedCount = min(Int(file.integer(at: 12, UInt16.self)), Vault.Limits.slots)
    statedSlots = (0..<statedCount).prefix { slotEnd($0 + 1) <= file.byteCount }.map { index in
      StoredSlot(file.extracting(slotEnd(index)..<slotEnd(index + 1)))
    }

    let sections = Self.sections(file, from: headEnd, snapshotCount: file.integer(at: 48))
    let manifestCount = file.integer(at: 40, UInt64.self)
    let isPlausible = manifestCount >= UInt64(Snapshot.sealedMinimum) && manifestCount <= UInt64(file.byteCount)
    var slotCount = max(statedCount, foundCount)
    if isPlausible, let first = sections.first {
      // Header, slots and manifest must end where the first section begins. If they do, their lengths are valid.
      let rest = first.range.lowerBound - Int(manifestCount) - Snapshot.headerCount
      if rest >= 0, rest % StoredSlot.count == 0, rest / StoredSlot.count <= Vault.Limits.slots {
        slotCount = rest / StoredSlot.count
      }
    }
    let manifestStart = slotEnd(slotCount)
    let hasManifest = isPlausible && manifestCount <= UInt64(max(0, file.byteCount - manifestStart))
    snapshot = Snapshot(
      vaultID: Vault.Identifier(file, at: 16), generation: file.integer(at: 32), slots: slots,
      manifest: hasManifest ? manifestStart..<manifestStart + Int(manifestCount) : 0..<0, sections: sections,
      image: image,
      // The position of the tag does not depend on the length of the manifest.
      manifestTag: manifestStart + Sealer.tag.upperBound <= file.byteCount
        ? Vault.Tag(file, at: manifestStart + Sealer.tag.lowerBound) : .zero)
    entries = Self.entries(file, from: headEnd, groups: Set(sections.map(\.id)))
    lastEntry = entries.values.joined().map(\.place.range.lowerBound).max() ?? 0
    let snapshotEnd = sections.last.map { $0.range.upperBound + Snapshot.checksumCount } ?? 0
    let isJournalKnown = file.integer(at: 48, UInt64.self) == UInt64(snapshotEnd) && snapshotEnd <= file.byteCount
    let tail =
      entries.values.joined().filter(\.isWhole).map(\.place.range.upperBound).max()
      ?? (isJournalKnown ? snapshotEnd : file.byteCount)
    let end = JournalFrame.lastNonzero(file, from: tail)
    tornTail = end > tail ? Vault.TornTail(file, tail: tail, end: end) : nil
  }

  // MARK: Sections

  /// Searches for section headers at every multiple of eight. Sealed bytes are random and look like a header with a
  /// probability below 2^-64.
  private static func sections(
    _ file: RawSpan, from start: Int, snapshotCount: UInt64
  ) -> [Snapshot.Section] {
    var all: [(start: Int, id: Vault.Identifier, epoch: UInt32, count: Int)] = []
    for start in stride(from: start, through: file.byteCount - Snapshot.sectionHeadCount, by: 8)
    where all.count < 4 * Vault.Limits.groups {
      if let head = head(file, at: start) { all.append(head) }
    }
    let starts = Set(all.map(\.start))
    var sections: [Snapshot.Section] = []
    var reached = 0
    for (index, head) in all.enumerated() where head.start >= reached {
      let first = head.start + Snapshot.sectionHeadCount
      let stated = first + head.count
      // A length that leads to a header or to the checksum is valid, and anything like a header before that was sealed
      // by a key holder. Any other length may be too long, so it must not include what follows, or too short: then the
      // group's seal decides.
      let isSnapshotPlausible = snapshotCount > UInt64(stated) && snapshotCount <= UInt64(file.byteCount)
      let end = isSnapshotPlausible ? Int(snapshotCount) - Snapshot.checksumCount : file.byteCount
      let next = index + 1 < all.count ? all[index + 1].start : max(end, min(stated, file.byteCount))
      let isRight = starts.contains(stated) || UInt64(stated + Snapshot.checksumCount) == snapshotCount
      let ends = isRight && stated <= file.byteCount ? [stated] : stated < next ? [stated, next] : [next]
      for end in ends where end - first > Sealer.overhead {
        sections.append(
          Snapshot.Section(id: head.id, epoch: head.epoch, range: head.start..<end, sealed: first..<end))
      }
      reached = ends[ends.count - 1]
    }
    return sections
  }

  private static func head(
    _ file: RawSpan, at start: Int
  ) -> (start: Int, id: Vault.Identifier, epoch: UInt32, count: Int)? {
    let zero = file.integer(at: start + 20, UInt32.self)
    let epoch = file.integer(at: start + 16, UInt32.self)
    let count = file.integer(at: start + 24, UInt64.self)
    let id = Vault.Identifier(file, at: start)
    guard zero == 0, (1..<(1 << 31)).contains(epoch), count % 8 == 0, count >= UInt64(Snapshot.sealedMinimum),
      count <= UInt64(Vault.Limits.format.fileBytes), id != .zero
    else { return nil }
    return (start, id, epoch, Int(count))
  }

  // MARK: Entries

  /// Searches for entries at every multiple of eight, because the end of the snapshot is unknown.
  private static func entries(
    _ file: RawSpan, from start: Int, groups: Set<Vault.Identifier>
  ) -> [Vault.Identifier: [PossibleEntry]] {
    var entries: [Vault.Identifier: [PossibleEntry]] = [:]
    var position = start
    // The budget prevents quadratic time on a hostile file.
    var budget = 4 * file.byteCount
    while position < file.byteCount, budget > 0 {
      guard let place = JournalFrame.Entry(file, at: position), place.hasHeader(of: groups),
        place.range.upperBound <= file.byteCount
      else {
        position += 8
        continue
      }
      budget -= place.range.count
      let isWhole = place.isWhole(in: file)
      entries[place.group, default: []].append(PossibleEntry(place: place, isWhole: isWhole))
      position += isWhole ? place.range.count : 8
    }
    return entries
  }
}

extension StoredSlot {
  /// Whether the slots with this one obey the rules of 3.2 and the limits of 3.10.
  fileprivate func isPlausible(besides others: [StoredSlot]) -> Bool {
    guard id != .zero, isKnown else { return false }
    do throws(VaultError) { try (others + [self]).check() } catch { return false }
    return true
  }
}

extension Snapshot {
  /// A snapshot of everything that was found, valid or not.
  fileprivate init(
    vaultID: Vault.Identifier, generation: UInt64, slots: [StoredSlot], manifest: Range<Int>, sections: [Section],
    image: FileImage, manifestTag: Vault.Tag
  ) {
    self.vaultID = vaultID
    self.generation = generation
    self.slots = slots
    self.manifest = manifest
    self.sections = sections
    self.manifestTag = manifestTag
    count = image.count
    isLogged = image.span.integer(at: 10, UInt16.self) & Self.loggedFlag != 0
    boundHeader = image.span.extracting(..<Self.boundHeaderCount).copy
  }
}
