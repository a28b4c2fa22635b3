internal import VaultSealing

/// Makes the bytes of a new vault file: full writes and creation (`Docs/Format.md` 5.2, 5.3).
struct SnapshotWriter {
  let vaultID: Identifier
  let generation: UInt64
  let slots: [Slot]
  let sealer: Sealer

  /// A section as it will stand in the file.
  struct Section {
    let id: Identifier
    let epoch: UInt32
    let sealed: [UInt8]
    var tag: Tag { sealed.withUnsafeBytes { Tag($0.baseAddress! + Sealer.tag.lowerBound) } }
  }

  /// Seals a group's content as a section of its own.
  func section(
    _ content: GroupContent, generation: UInt64, baseGeneration: UInt64, baseTag: Tag
  ) -> Section {
    var body = content.sectionBody(generation: generation, baseGeneration: baseGeneration, baseTag: baseTag)
    defer { body.wipe() }
    return Section(
      id: content.id, epoch: content.epoch,
      sealed: sealer.sealBody(
        body, step: GroupContent.sectionStep, with: content.key,
        as: .section(vault: vaultID, group: content.id, epoch: content.epoch)))
  }

  /// The file as an owner writes it: manifest sealed anew, no entries.
  func ownerFile(_ sections: [Section], manifest: Manifest, vaultKey: SealingKey, reserve: Int) -> [UInt8] {
    var body = manifest.body()
    defer { body.wipe() }
    let length = Padding.paddedCount(body.count, step: Manifest.step) + Sealer.overhead
    let header = boundHeader(groups: sections.count, manifestCount: length)
    let slotBytes = slots.flatMap(\.bytes)
    let sealed = header.withUnsafeBytes { header in
      slotBytes.withUnsafeBytes { slots in
        sealer.sealBody(body, step: Manifest.step, with: vaultKey, as: .manifest(header: header, slots: slots))
      }
    }
    return Self.assemble(
      header, slotBytes: slotBytes, manifest: sealed, sections: sections, entries: [], reserve: reserve)
  }

  /// Puts the parts together: header, slots, manifest, sections, checksum, entries, reserve.
  static func assemble(
    _ boundHeader: [UInt8], slotBytes: [UInt8], manifest: [UInt8], sections: [Section], entries: [UInt8],
    reserve: Int
  ) -> [UInt8] {
    let sectionBytes = sections.reduce(0) { $0 + Snapshot.sectionHeadCount + $1.sealed.count }
    let end = Snapshot.headerCount + slotBytes.count + manifest.count + sectionBytes
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(end + Snapshot.checksumCount + entries.count + reserve)
    writer.raw(boundHeader)
    writer.integer(UInt64(end + Snapshot.checksumCount))
    writer.raw(slotBytes)
    writer.raw(manifest)
    for section in sections {
      writer.raw(section.id)
      writer.integer(section.epoch)
      writer.integer(UInt32(0))
      writer.integer(UInt64(section.sealed.count))
      writer.raw(section.sealed)
    }
    writer.raw(writer.bytes.withUnsafeBytes(Snapshot.checksum))
    writer.raw(entries)
    writer.zeros(reserve)
    return writer.bytes
  }

  private func boundHeader(groups: Int, manifestCount: Int) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(Snapshot.magic)
    writer.integer(UInt16(1))
    writer.integer(UInt16(0))
    writer.integer(UInt16(slots.count))
    writer.integer(UInt16(groups))
    writer.raw(vaultID)
    writer.integer(generation)
    writer.integer(UInt64(manifestCount))
    return writer.bytes
  }
}

extension VaultState {
  /// Changes records and folds all entries into a new snapshot (5.2). `self` is a load of its own, made under the
  /// writer's lock and thrown away afterwards: its contents are changed.
  ///
  /// - Parameter body: an entry's body with the changes of `group`; nil for a fold without change.
  func foldedFile(_ body: [UInt8]?, group: Identifier?) throws(VaultError) -> [UInt8] {
    guard let image else { throw VaultError(.locked, "a full write needs the loaded file") }
    if let body, let group {
      let content = try content(group)
      content.apply(try content.stage(body: body))
    }
    switch unlocked.grant {
    case .owner(let vaultKey): return try ownerFold(image, changed: group, vaultKey)
    case .holder(let group, _): return try holderFold(image, group, isChanged: body != nil)
    }
  }

  private func ownerFold(
    _ image: FileImage, changed: Identifier?, _ vaultKey: SealingKey
  ) throws(VaultError) -> [UInt8] {
    let generation = snapshot.generation + 1
    guard let manifest, Limits.generations.contains(generation) else {
      throw VaultError(.limitExceeded, "the vault has used up its generations")
    }
    let writer = SnapshotWriter(
      vaultID: snapshot.vaultID, generation: generation, slots: snapshot.slots, sealer: sealer)
    var sections: [SnapshotWriter.Section] = []
    var floors: [Manifest.Group] = []
    for group in groups {
      let content = try content(group.id)  // every group is verified, changed or not
      var floor = content.generation
      if group.id == changed || content.entryCount > 0 {
        if group.id != changed { floor += 1 }
        guard Limits.generations.contains(floor) else {
          throw VaultError(.limitExceeded, "a group has used up its generations")
        }
        sections.append(writer.section(content, generation: floor, baseGeneration: generation, baseTag: .zero))
      } else {
        sections.append(.init(id: group.id, epoch: content.epoch, sealed: Array(image[group.section.sealed])))
      }
      floors.append(
        Manifest.Group(
          id: group.id, epoch: content.epoch, floorGeneration: floor, floorTag: sections[sections.count - 1].tag,
          name: content.name))
    }
    return writer.ownerFile(
      sections,
      manifest: Manifest(groups: floors, slots: manifest.slots, extensionField: manifest.extensionField),
      vaultKey: vaultKey, reserve: options.reserveBytes)
  }

  private func holderFold(_ image: FileImage, _ own: Identifier, isChanged: Bool) throws(VaultError) -> [UInt8] {
    let content = try content(own)
    let writer = SnapshotWriter(
      vaultID: snapshot.vaultID, generation: snapshot.generation, slots: snapshot.slots, sealer: sealer)
    let generation = isChanged ? content.generation : content.generation + 1
    guard Limits.generations.contains(generation) else {
      throw VaultError(.limitExceeded, "the group has used up its generations")
    }
    let sections = snapshot.sections.map { section in
      guard section.id == own else {
        return SnapshotWriter.Section(id: section.id, epoch: section.epoch, sealed: Array(image[section.sealed]))
      }
      return writer.section(
        content, generation: generation, baseGeneration: snapshot.generation, baseTag: snapshot.manifestTag)
    }
    // Entries of other groups stay chained to what they stand behind: byte for byte, in their order.
    let frame = try JournalFrame(image.bytes, from: snapshot.count, groups: Set(snapshot.sections.map(\.id)))
    let entries = frame.entries.filter { $0.group != own }.flatMap { Array(image[$0.range]) }
    return SnapshotWriter.assemble(
      snapshot.boundHeader, slotBytes: snapshot.slotBytes, manifest: Array(image[snapshot.manifest]),
      sections: sections, entries: entries, reserve: options.reserveBytes)
  }
}
