/// A draft made into a file, and its parts.
struct Forged {
  var slots: [Bytes] = []
  /// Sealed.
  var manifest: Bytes = []
  /// Sealed, as they stand in the file.
  var sections: [Bytes] = []
  var entries: [Bytes] = []
  /// Those of the entries' seals.
  var entryTags: [Bytes] = []
  var file: Bytes = []
  var snapshotCount = 0
}

extension Draft {
  /// Where things stand in a file.
  enum Offset {
    static let manifestCount = 40
    static let snapshotCount = 48
    static let slots = 56
    static let slotCount = 168
  }

  func groupKey(_ index: Int) -> Bytes { groups[index].key(vaultKey: vaultKey) }

  func forged() -> Forged {
    var random = random
    var out = Forged()
    out.slots = slots.map { slot in
      slot.bytes(vaultID: vaultID, granting: grantedKey(slot))
    }
    out.sections = groups.map { $0.section.sealed($0, baseTag: .zeros(32), self, &random) }

    var groupLines = zip(groups, out.sections).map { $0.listed(floorTag: $1.tag) }
    var slotLines = slots.map { $0.listed(vaultID: vaultID) }
    manifest.lines?(&groupLines, &slotLines)
    var body = Bytes.integer(manifest.groupCount ?? UInt16(groupLines.count)) + groupLines.joined()
    body += .integer(manifest.slotCount ?? UInt16(slotLines.count)) + slotLines.joined()
    body += .lp32(manifest.extensionField) + manifest.rest
    manifest.body?(&body)
    // manifest_len stands in the header that the manifest is bound to.
    let count = (manifest.twist.padded?(body) ?? Sealing.pad(body, step: 1024)).count + Sealing.overhead
    var head: Bytes = [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]
    head += .integer(version) + .integer(flags)
    head += .integer(slotCount ?? UInt16(slots.count)) + .integer(groupCount ?? UInt16(groups.count))
    head += vaultID + .integer(generation) + .integer(manifestCount ?? UInt64(count))
    out.manifest = manifest.twist.sealBody(
      body, step: 1024, key: vaultKey, context: [Bytes("manifest"), head, Bytes(out.slots.joined())],
      random: random.draw(24))

    for (index, group) in groups.enumerated() {
      guard let fold = group.fold else { continue }
      out.sections[index] = fold.sealed(group, baseTag: out.manifest.tag, self, &random)
    }
    makeEntries(&out, &random)
    assemble(&out, head: head)
    return out
  }

  private func grantedKey(_ slot: Slot) -> Bytes {
    slot.scope == 1
      ? Sealing.derive(32, vaultKey, "group-key", slot.groupID, .integer(slot.epoch)) : vaultKey
  }

  private func makeEntries(_ out: inout Forged, _ random: inout RandomStream) {
    var generations = groups.map(\.current.generation)
    var tags = out.sections.map(\.tag)
    for entry in entries {
      let place = Entry.Place(
        generation: generations[entry.group], manifestTag: out.manifest.tag, previousTag: tags[entry.group])
      let (bytes, tag) = entry.bytes(self, at: place, &random)
      out.entries.append(bytes)
      out.entryTags.append(tag)
      generations[entry.group] = entry.generation ?? generations[entry.group] &+ 1
      tags[entry.group] = tag
    }
  }

  private func assemble(_ out: inout Forged, head: Bytes) {
    var file = head + .zeros(8) + out.slots.joined() + out.manifest
    for (group, sealed) in zip(groups, out.sections) { file += group.head(count: sealed.count) + sealed }
    file.store(UInt64(file.count + 32), at: Offset.snapshotCount)
    file += Sealing.hash(32, file)
    out.snapshotCount = file.count
    file += out.entries.joined() + reserve
    finished?(&file)
    out.file = file
  }
}

extension Bytes {
  /// Makes the checksum right again, at the place where snapshot_len says that it stands.
  mutating func mendChecksum() {
    let end = self[48..<56].reversed().reduce(0) { $0 << 8 | Int($1) } - 32
    store(Sealing.hash(32, Bytes(self[..<end])), at: end)
  }

  /// Puts bytes into the snapshot, or takes some out, and makes snapshot_len and checksum right.
  mutating func replaceInSnapshot(_ range: Range<Int>, with bytes: Bytes) {
    let count = self[48..<56].reversed().reduce(0) { $0 << 8 | Int($1) } + bytes.count - range.count
    replaceSubrange(range, with: bytes)
    store(UInt64(count), at: 48)
    mendChecksum()
  }
}
