internal import VaultSealing

/// The saved part of one access group. It contains only records whose values open.
final class SalvagedGroup {
  private let section: Snapshot.Section
  private let vaultID: Vault.Identifier
  private let key: SealingKey
  private var classKeys: ClassKeys
  private let options: Vault.Options
  private let sealer: Sealer
  private let floor: Manifest.GroupLine?
  /// The content of the group, if its section verifies.
  private var whole: GroupContent?
  /// Whether the section is the one that the manifest names, or a later one of a holder. `false` in an owner's salvage
  /// if no manifest lists the group: the section may be an older one.
  private(set) var isCurrent: Bool
  private var index = RecordIndex()
  /// The buffers of records that are not in `whole`.
  private var buffers: [WipedBuffer] = []
  private var generation: UInt64
  /// The plausible generations of the group. A forged higher one would leave no generations for later writes.
  private let generations: ClosedRange<UInt64>
  private var readName: Vault.Name?
  private(set) var lostEntryCount = 0
  private(set) var lostValueCount = 0

  var id: Vault.Identifier { section.id }
  /// The highest known epoch of the group.
  var lastEpoch: UInt32 { max(section.epoch, floor?.epoch ?? 0) }
  var name: Vault.Name? { floor?.name ?? readName }
  /// Whether the name was set by a key holder. A name that was decrypted without checking the tag may be chosen by an
  /// attacker.
  var hasVerifiedName: Bool { floor != nil || whole != nil }
  var hasName: Bool { name != nil }
  var title: String { name?.text ?? "\(id)" }
  /// Whether the section and every part found of the group open.
  var isWhole: Bool { whole != nil && lostEntryCount == 0 && lostValueCount == 0 }
  var isVerified: Bool { isWhole && isCurrent }
  /// Whether an owner listed the group.
  var isListed: Bool { floor != nil }
  var isEmptyHanded: Bool { whole == nil && index.count == 0 }

  /// - Parameter isOwner: whether the manifest, which a group holder cannot read, should list the group.
  init(
    _ section: Snapshot.Section, of damaged: DamagedFile, key: SealingKey, floor: Manifest.GroupLine?, isOwner: Bool,
    options: Vault.Options, sealer: Sealer
  ) throws(VaultError) {
    isCurrent = floor != nil || !isOwner
    self.section = section
    vaultID = damaged.snapshot.vaultID
    self.key = key
    classKeys = ClassKeys(of: key)
    self.floor = floor
    self.options = options
    self.sealer = sealer
    let sealed = damaged.image[section.sealed]
    // One generation must be left for the new vault.
    let lowest = min(floor?.floorGeneration ?? 1, Vault.Limits.generations.upperBound - 1)
    generation = lowest
    generations = lowest...min(lowest + Vault.Limits.generationsAhead, Vault.Limits.generations.upperBound - 1)
    do throws(VaultError) {
      let content = try GroupContent(
        sealed: sealed, id: section.id, epoch: section.epoch, vaultID: vaultID, key: key, sealer: sealer,
        limits: options.limits, isLogged: true)
      try take(content, damaged)
    } catch {
      try takePieces(sealed)
      try takeEntries(behind: Vault.Tag(sealed, at: Sealer.tag.lowerBound), or: floor?.floorTag, damaged)
    }
  }

  // MARK: A section that verifies

  private func take(_ content: GroupContent, _ damaged: DamagedFile) throws(VaultError) {
    whole = content
    readName = content.name
    if let floor { isCurrent = content.epoch == floor.epoch && content.isBased(on: floor, in: damaged.snapshot) }
    let (manifestTag, sealer) = (damaged.snapshot.manifestTag, sealer)
    forEachEntry(of: damaged) { sealed in
      do throws(VaultError) {
        content.apply(try content.stage(sealed: sealed, manifestTag: manifestTag, sealer: sealer))
        return true
      } catch { return false }
    }
    setGeneration(content.generation)
    var records: [Record] = []
    content.forEachStored { records.append($0) }
    for record in records { try keep(record) }
  }

  private func setGeneration(_ found: UInt64) {
    if !generations.contains(found) { isCurrent = false }
    generation = min(max(found, generations.lowerBound), generations.upperBound)
  }

  /// Calls `use` with the entries of the group until one is invalid. The entries behind it are lost.
  private func forEachEntry(of damaged: DamagedFile, _ use: (RawSpan) -> Bool) {
    var end = 0
    var firstLost: DamagedFile.PossibleEntry?
    var lostCount = 0
    for entry in damaged.entries[id] ?? [] where entry.place.range.lowerBound >= end {
      if firstLost == nil, use(damaged.image[entry.place.sealed]) {
        end = entry.place.range.upperBound
        continue
      }
      if entry.isWhole || firstLost == nil { lostCount += 1 }
      if firstLost == nil { firstLost = entry }
    }
    guard let firstLost else { return }
    // A broken entry without another behind it, of any group, looks like an interrupted write; the report names it.
    let isTorn = !firstLost.isWhole && damaged.lastEntry == firstLost.place.range.lowerBound
    if !isTorn { lostEntryCount = lostCount }
  }

  // MARK: A section that does not

  /// Decrypts without checking the tag and keeps the records whose own values open, at any position.
  private func takePieces(_ sealed: RawSpan) throws(VaultError) {
    let context = Context.section(vault: vaultID, group: id, epoch: section.epoch)
    sealer.bind(to: context)
    let body = sealer.decryptedUnverified(sealed, with: key)
    buffers.append(body)
    var position = 48  // generation, base generation and base tag
    guard body.count > position else { return }
    var reader = ByteReader(body.span)
    do throws(VaultError) {
      let found = try reader.integer(UInt64.self)
      if generations.contains(found) { generation = found }
      _ = try reader.bytes(position - 8)
      readName = try Vault.Name(verbatim: reader.name().copy)
    } catch {}  // a name is derived from the id
    // The budget prevents quadratic time on a hostile section.
    var budget = 4 * body.count
    while position + Record.minimumCount <= body.count, budget > 0 {
      let rest = body.span.extracting(position...)
      guard
        let piece = SalvagedPiece(rest, highestRevision: generation, budget: &budget, limits: options.limits)
      else {
        position += 1
        continue
      }
      guard try opens(piece) else {
        position += 1
        continue
      }
      try takePiece(piece)
      position += piece.count
    }
  }

  private func opens(_ piece: borrowing SalvagedPiece) throws(VaultError) -> Bool {
    try opens(
      piece.sealed, piece.accessibility, .value(service: piece.name.service, key: piece.name.key, kind: piece.kind),
      as: ValueKind(rawValue: piece.kind))
  }

  /// Copies the record into a buffer of this group, with a plausible revision.
  private func takePiece(_ piece: borrowing SalvagedPiece) throws(VaultError) {
    let buffer = piece.record()
    var reader = ByteReader(buffer.span)
    try keep(try Record(&reader, generation: generation, after: nil, limits: options.limits))
    buffers.append(buffer)
  }

  /// Opens the entries, which have their own seals. They are chained to the section's tag, which may be intact even if
  /// the section is not.
  ///
  /// - Parameters:
  ///   - tag: the tag of the section in the file.
  ///   - known: the tag in the manifest.
  private func takeEntries(behind tag: Vault.Tag, or known: Vault.Tag?, _ damaged: DamagedFile)
    throws(VaultError)
  {
    var tags = [tag, known ?? tag]
    var opened: [(buffer: WipedBuffer, count: Int)] = []
    let (key, sealer) = (key, sealer)
    let (vaultID, id, epoch, manifestTag) = (vaultID, id, section.epoch, damaged.snapshot.manifestTag)
    forEachEntry(of: damaged) { sealed in
      for tag in tags {
        let context = Context.entry(vault: vaultID, group: id, epoch: epoch, manifest: manifestTag, previous: tag)
        do throws(VaultError) {
          guard let body = try sealer.openBody(sealed, step: GroupContent.entryStep, with: key, as: context)
          else {
            continue
          }
          opened.append(body)
        } catch { return false }
        tags = [Vault.Tag(sealed, at: Sealer.tag.lowerBound)]
        return true
      }
      return false
    }
    for (buffer, count) in opened {
      buffers.append(buffer)
      do throws(VaultError) {
        try apply(buffer.span.extracting(..<count))
      } catch { lostEntryCount += 1 }  // sealed by a key holder, but invalid
    }
  }

  /// Applies an entry's changes. Some of the records may be missing.
  private func apply(_ body: RawSpan) throws(VaultError) {
    var reader = ByteReader(body)
    let next = try reader.generation()
    setGeneration(max(generation, next))
    for _ in 0..<(try reader.integer(UInt32.self)) {
      switch try reader.integer(UInt8.self) {
      case 1:
        try keep(try Record(&reader, generation: next, revision: next, after: nil, limits: options.limits))
      case 2:
        index.remove(RecordName(service: try reader.name(), key: try reader.name()))
      case GroupContent.policyChange:
        _ = try reader.integer(UInt8.self)  // of a log whose settings are lost with the section
      default: throw .malformed("an unknown change")
      }
    }
  }

  // MARK: Records

  private func keep(_ record: Record) throws(VaultError) {
    let name = record.name
    let context = Context.value(service: name.service, key: name.key, kind: record.kind)
    guard try opens(record.sealedValue, record.accessibility, context, as: ValueKind(rawValue: record.kind)) else {
      lostValueCount += 1
      return
    }
    var openedCount = 0
    var fields = Extension.Items(record.extensionField)
    while let item = try fields.next() {
      guard item.tag == Extension.RecordTag.previous else { continue }
      if try opens(try PreviousValue(item.data), of: record) { openedCount += 1 } else { lostValueCount += 1 }
    }
    // Of a removed record without them, nothing could be restored.
    guard !record.isRemoved || openedCount > 0 else { return index.remove(name) }
    index.put(record)
  }

  private func opens(_ previous: borrowing PreviousValue, of record: Record) throws(VaultError) -> Bool {
    let name = record.name
    return try opens(
      previous.sealed, record.accessibility,
      .previous(service: name.service, key: name.key, kind: previous.kind, revision: previous.revision),
      as: ValueKind(rawValue: previous.kind))
  }

  /// Whether a value opens and fits its kind. With a device layer, whether the outer seal opens.
  private func opens(
    _ sealed: RawSpan, _ accessibility: Vault.Accessibility, _ context: borrowing Context,
    as kind: ValueKind
  ) throws(VaultError) -> Bool {
    let classKey = try classKeys.key(accessibility, sealer)
    sealer.bind(to: context)
    let isValid = { accessibility.isThisDeviceOnly || kind.fitsUnwiped($0) }
    return try sealer.withOpened(sealed, with: classKey, if: isValid) { _ in } ?? false
  }

  private var mark: Extension.OwnedItem { isCurrent ? SalvagedPiece.unverified : SalvagedPiece.perhapsOld }

  /// The content of the group for the new vault, under its present key.
  func content(named name: Vault.Name) throws(VaultError) -> GroupContent {
    var writer = ByteWriter()
    defer { writer.bytes.wipe() }
    var records: [Record] = []
    // Of a removed record whose earlier values are left out below, nothing could be restored.
    index.forEachInOrder { if !$0.isRemoved || $0.revision <= generation { records.append($0) } }
    let markCount = mark.data.count + Extension.itemHeadCount
    let length = records.reduce(128 + name.utf8.count) { $0 + Int($1.count) + markCount }
    writer.bytes.reserveCapacity(length)
    writer.integer(generation)
    writer.integer(UInt64(1))
    writer.raw(Vault.Tag.zero)
    writer.lp16(name.utf8)
    writer.integer(UInt32(records.count))
    for record in records {
      let revision = min(record.revision, generation)
      writer.raw(record.bytesBeforeValue.extracting(droppingLast: 8))
      writer.integer(revision)
      writer.lp32(record.sealedValue)
      var field = try extensionField(of: record, keepsHistory: revision == record.revision)
      writer.lp32(field)
      field.wipe()
    }
    writer.lp32(whole?.extensionField ?? [])
    let body = WipedBuffer(copying: writer.bytes.bytes)
    return try GroupContent(
      body: body, count: writer.count, tag: .zero, id: id, epoch: section.epoch, vaultID: vaultID, key: key,
      limits: options.limits, isLogged: true)
  }

  /// The extension field of a record, without earlier values that do not open. If the group is not verified, the field
  /// has the attribute ``SalvageReport/attribute``.
  ///
  /// - Parameter keepsHistory: whether the revision is intact. Earlier values must have lower revisions.
  private func extensionField(of record: Record, keepsHistory: Bool) throws(VaultError) -> [UInt8] {
    var items: [Extension.OwnedItem] = isVerified ? [] : [mark]
    var fields = Extension.Items(record.extensionField)
    while let item = try fields.next() {
      if item.tag == Extension.RecordTag.previous {
        guard keepsHistory, try opens(try PreviousValue(item.data), of: record) else { continue }
      }
      // Replaces the attribute of an earlier salvage.
      if !isVerified, item.tag == mark.tag, item.data.starts(with: SalvagedPiece.attributeName) { continue }
      items.append(.init(item.tag, item.data.copy))
    }
    return Extension.field(wiping: &items)
  }
}
