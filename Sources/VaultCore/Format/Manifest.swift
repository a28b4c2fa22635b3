internal import VaultSealing

/// The body of the manifest (`Docs/Format.md` 3.5): an owner's list of all groups and slots.
struct Manifest {
  /// What the manifest has of a group.
  struct GroupLine {
    let id: Vault.Identifier
    let epoch: UInt32
    let floorGeneration: UInt64
    let floorTag: Vault.Tag
    let name: Vault.Name
  }

  /// What the manifest has of a slot.
  struct SlotLine {
    let id: Vault.Identifier
    /// The key-encryption key of a group slot, with which an owner can wrap it again; `nil` for owner slots.
    let kek: SealingKey?
    /// Milliseconds since 1970-01-01 UTC.
    let created: Int64
    let label: [UInt8]
  }

  static let step = 1024

  var groups: [GroupLine]
  var slots: [SlotLine]
  var extensionField: [UInt8]

  init(groups: [GroupLine], slots: [SlotLine], extensionField: [UInt8]) {
    self.groups = groups
    self.slots = slots
    self.extensionField = extensionField
  }

  /// Parses strictly, then compares with the file: the manifest must list exactly its sections and slots, in order.
  init(_ body: RawSpan, of snapshot: Snapshot) throws(VaultError) {
    try self.init(body, slots: snapshot.slots)
    guard groups.map(\.id) == snapshot.sections.map(\.id), slots.map(\.id) == snapshot.slots.map(\.id),
      Set(groups.map(\.name)).count == groups.count
    else { throw .tampered("the manifest lists other groups or slots than the file has") }
    _ = try logSetting(isLogged: snapshot.isLogged)
  }

  /// The log item of groups that are made later; `nil` if the vault was never logged.
  func logSetting(isLogged: Bool) throws(VaultError) -> AuditItem? {
    try AuditItem(in: extensionField.bytes, isLogged: isLogged, epoch: nil)
  }

  /// Parses strictly.
  /// - Parameter fileSlots: the slots of the file. The manifest must not contain the key of an owner slot.
  init(_ body: RawSpan, slots fileSlots: [StoredSlot]) throws(VaultError) {
    var reader = ByteReader(body)
    let groupCount = try reader.integer(UInt16.self)
    guard groupCount <= Vault.Limits.groups else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.groups) access groups in the manifest")
    }
    try reader.check(groupCount, itemsOfAtLeast: 63)
    var groups: [GroupLine] = []
    for _ in 0..<groupCount {
      let id = try reader.identifier()
      let epoch = try reader.integer(UInt32.self)
      let generation = try reader.generation()
      let tag = try reader.tag()
      let name = try Vault.Name(verbatim: reader.name().copy)
      groups.append(GroupLine(id: id, epoch: epoch, floorGeneration: generation, floorTag: tag, name: name))
    }
    let slotCount = try reader.integer(UInt16.self)
    guard slotCount <= Vault.Limits.slots else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.slots) slots in the manifest")
    }
    try reader.check(slotCount, itemsOfAtLeast: 58)
    let ownerSlots = Set(fileSlots.lazy.filter { $0.scope == .owner }.map(\.id))
    var slots: [SlotLine] = []
    for _ in 0..<slotCount {
      let id = try reader.identifier()
      let kek = try reader.bytes(SealingKey.count)
      let hasKEK = !kek.isZero
      guard !(hasKEK && ownerSlots.contains(id)) else { throw .malformed("an owner slot in the manifest") }
      let created = try reader.integer(Int64.self)
      let label = try reader.lp16()
      guard label.byteCount <= 1024, isUTF8(label) else { throw .malformed("a slot's label") }
      let key = hasKEK ? try SealingKey(copying: kek) : nil
      slots.append(SlotLine(id: id, kek: key, created: created, label: label.copy))
    }
    let extensionBytes = try reader.lp32()
    try Extension.check(extensionBytes)
    try reader.finish()
    self.init(groups: groups, slots: slots, extensionField: extensionBytes.copy)
  }

  /// The body with its padding, in guarded memory because it contains keys.
  func padded() throws(VaultError) -> SecretBytes {
    var writer = ByteWriter()
    // The keys are added later, in guarded memory.
    var keys: [(offset: Int, key: SealingKey)] = []
    // Reserved at once, so that growing leaves no unwiped copy of the names behind.
    writer.bytes.reserveCapacity(
      8 + groups.count * (64 + 1024) + slots.count * (64 + 1024) + extensionField.count)
    writer.integer(UInt16(groups.count))
    for group in groups {
      writer.raw(group.id)
      writer.integer(group.epoch)
      writer.integer(group.floorGeneration)
      writer.raw(group.floorTag)
      writer.lp16(group.name.utf8)
    }
    writer.integer(UInt16(slots.count))
    for slot in slots {
      writer.raw(slot.id)
      if let kek = slot.kek { keys.append((writer.count, kek)) }
      writer.zeros(SealingKey.count)
      writer.integer(slot.created)
      writer.lp16(slot.label)
    }
    writer.lp32(extensionField)
    defer { writer.bytes.wipe() }
    var padded = try SecretBytes(count: Padding.paddedCount(writer.count, step: Self.step))
    unsafe padded.withUnsafeMutableBytes { out in
      unsafe out.copyBytes(from: writer.bytes)
      unsafe out[writer.count] = 0x80
      for (offset, key) in keys {
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: out[offset..<offset + SealingKey.count])
        unsafe key.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
      }
    }
    return padded
  }
}
