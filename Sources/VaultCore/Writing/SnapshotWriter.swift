internal import VaultSealing

/// Writes the bytes of a new vault file, for full writes and creation (`Docs/Format.md` 5.2, 5.3).
struct SnapshotWriter {
  let vaultID: Vault.Identifier
  let generation: UInt64
  let slots: [StoredSlot]
  let sealer: Sealer
  /// The present time, in milliseconds since 1970-01-01 UTC: removed records that are due are not written.
  let now: Int64
  var isLogged = false
  var progress: ProgressCounter?

  /// A section of the new file.
  struct SealedSection {
    let id: Vault.Identifier
    let epoch: UInt32
    let sealed: [UInt8]
    var tag: Vault.Tag { Vault.Tag(sealed.bytes, at: Sealer.tag.lowerBound) }
  }

  /// Seals a group's content as a section: its records unchanged, or sealed again under a new key.
  func section(
    _ group: VaultDraft.GroupEntry, generation: UInt64, baseGeneration: UInt64, baseTag: Vault.Tag
  ) throws(VaultError) -> SealedSection {
    let content = group.content
    let isDropped = { [now] (record: Record) throws(VaultError) in
      group.dropsHistory ? true : try record.isDue(at: now)
    }
    var body: [UInt8]
    if !group.isResealed {
      body = try content.sectionBody(
        name: group.name, generation: generation, baseGeneration: baseGeneration, baseTag: baseTag,
        extensionField: group.extensionField, dropping: isDropped)
    } else {
      var resealing = Resealing(content, under: group.key, dropsHistory: group.dropsHistory, sealer: sealer)
      body = try content.sectionBody(
        name: group.name, generation: generation, baseGeneration: baseGeneration, baseTag: baseTag,
        extensionField: group.extensionField, dropping: isDropped
      ) { (record, writer) throws(VaultError) in
        try resealing.write(record, to: &writer)
        if !record.isRemoved { progress?.advance() }
      }
    }
    defer { body.wipe() }
    return SealedSection(
      id: content.id, epoch: group.epoch,
      sealed: sealer.sealBody(
        body.bytes, step: GroupContent.sectionStep, with: group.key,
        as: .section(vault: vaultID, group: content.id, epoch: group.epoch)))
  }

  /// The file as an owner writes it: with a newly sealed manifest and without entries.
  func ownerFile(_ sections: [SealedSection], manifest: Manifest, vaultKey: SealingKey) throws(VaultError) -> [UInt8] {
    let body = try manifest.padded()
    let header = boundHeader(groups: sections.count, manifestCount: body.count + Sealer.overhead)
    let slotBytes = slots.flatMap(\.bytes)
    sealer.bind(to: .manifest(header: header.bytes, slots: slotBytes.bytes))
    let sealed = body.withSpan { sealer.seal($0, with: vaultKey) }
    return Self.assemble(
      header, slotBytes: slotBytes, manifest: sealed, sections: sections, entries: [])
  }

  /// Assembles the bytes: header, slots, manifest, sections, checksum, entries.
  static func assemble(
    _ boundHeader: [UInt8], slotBytes: [UInt8], manifest: [UInt8], sections: [SealedSection], entries: [UInt8]
  ) -> [UInt8] {
    let sectionBytes = sections.reduce(0) { $0 + Snapshot.sectionHeadCount + $1.sealed.count }
    let end = Snapshot.headerCount + slotBytes.count + manifest.count + sectionBytes
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(end + Snapshot.checksumCount + entries.count)
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
    writer.raw(Snapshot.checksum(writer.bytes.bytes))
    writer.raw(entries)
    return writer.bytes
  }

  private func boundHeader(groups: Int, manifestCount: Int) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(Snapshot.magic)
    writer.integer(UInt16(1))
    writer.integer(isLogged ? Snapshot.loggedFlag : 0)
    writer.integer(UInt16(slots.count))
    writer.integer(UInt16(groups))
    writer.raw(vaultID)
    writer.integer(generation)
    writer.integer(UInt64(manifestCount))
    return writer.bytes
  }
}

extension VaultState {
  /// Changes records and folds all entries into a new snapshot (5.2). `self` is a separate load, made under the
  /// writer's lock and discarded afterwards, because its contents are changed.
  ///
  /// - Parameter body: the body of an entry with the changes of `group`; `nil` for a fold without a change.
  func foldedFile(_ body: WipedBuffer?, group: Vault.Identifier?) throws(VaultError) -> [UInt8] {
    guard unlocked.isOwner else { return try holderFold(body, of: group) }
    var draft = try VaultDraft(self)
    if let body, let group { try draft.apply(body, to: group) }
    return try draft.file()
  }

  /// A group holder's full write: new sections of its own groups, and everything else copied byte for byte.
  ///
  /// - Parameter group: the group that the write changes; only this one is folded then.
  private func holderFold(_ body: WipedBuffer?, of group: Vault.Identifier?) throws(VaultError) -> [UInt8] {
    guard let image else { throw VaultError(.locked, "a full write needs the loaded file") }
    let own = group.map { [$0] } ?? groups.map(\.id)
    let writer = SnapshotWriter(
      vaultID: snapshot.vaultID, generation: snapshot.generation, slots: snapshot.slots, sealer: sealer,
      now: options.now())
    var sections: [SnapshotWriter.SealedSection] = []
    for section in snapshot.sections {
      if own.contains(section.id) {
        let content = try content(section.id)
        let generation = content.generation + 1
        if let body { content.apply(try content.stage(body: body)) }
        guard Vault.Limits.generations.contains(generation) else {
          throw VaultError(.limitExceeded, "the group has no generation left")
        }
        let entry = VaultDraft.GroupEntry(
          content: content, name: content.name, epoch: content.epoch, key: content.key, sealed: nil)
        sections.append(
          try writer.section(
            entry, generation: generation, baseGeneration: snapshot.generation, baseTag: snapshot.manifestTag))
      } else {
        sections.append(.init(id: section.id, epoch: section.epoch, sealed: image[section.sealed].copy))
      }
    }
    // Entries of other groups are chained to what precedes them, so they are copied byte for byte in their order.
    let frame = try JournalFrame(image.span, from: snapshot.count, groups: Set(snapshot.sections.map(\.id)))
    let entries = frame.entries.filter { !own.contains($0.group) }.flatMap { image[$0.range].copy }
    return SnapshotWriter.assemble(
      snapshot.boundHeader, slotBytes: snapshot.slotBytes, manifest: image[snapshot.manifest].copy,
      sections: sections, entries: entries)
  }
}
