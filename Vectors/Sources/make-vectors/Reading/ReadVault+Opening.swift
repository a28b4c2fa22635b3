extension ReadVault {
  private enum Grant {
    case vaultKey(Bytes)
    /// By the group's id.
    case groupKeys([Bytes: Bytes])
  }

  private struct Floor {
    let id: Bytes
    let epoch: UInt32
    let generation: UInt64
    let tag: Bytes
    let name: Bytes
  }

  /// A group as a credential sees it.
  struct OpenGroup {
    let section: Section
    let key: Bytes
    var state: GroupState
    var logItem: LogItem?
  }

  /// Everything that a credential sees, every value opened.
  func findings(_ credential: Credential, deviceKey: Bytes) throws -> Findings {
    let (groups, item) = try opened(credential, deviceKey: deviceKey)
    return Findings(
      isOwner: item != nil, vaultGeneration: generation, hasTornTail: hasTornTail, entryCount: entries.count,
      groups: groups.map(\.state))
  }

  /// What the verification of a group's log takes from the vault.
  func logKnowledge(
    _ credential: Credential, group name: Bytes, deviceKey: Bytes
  ) throws -> LogVerification.Knowledge {
    let (groups, item) = try opened(credential, deviceKey: deviceKey)
    let group = try require(groups.first { $0.state.name == name }, "a group")
    let epoch = group.section.epoch
    let keys =
      group.logItem?.keys(vaultID: vaultID, group: group.section.id, epoch: epoch, groupKey: group.key)
      ?? [epoch: LogItem.key(groupKey: group.key)]
    return LogVerification.Knowledge(
      place: LogPlace(vaultID: vaultID, group: group.section.id, epoch: epoch, keys: keys),
      policy: group.logItem?.policy ?? 0, hasItem: group.logItem != nil, defaultPolicy: item.map { $0.policy })
  }

  /// The groups, and for owners the manifest's default, with policy off if it has none.
  private func opened(_ credential: Credential, deviceKey: Bytes) throws -> (groups: [OpenGroup], item: LogItem?) {
    switch try unlock(credential) {
    case .vaultKey(let key):
      let (floors, item) = try floors(key)
      let groups = try zip(sections, floors).map { section, floor in
        let groupKey = Sealing.derive(32, key, "group-key", section.id, .integer(section.epoch))
        return try group(section, groupKey, floor, deviceKey)
      }
      return (groups, item ?? LogItem(policy: 0))
    case .groupKeys(let keys):
      let groups = try sections.compactMap { section in
        try keys[section.id].map { try group(section, $0, nil, deviceKey) }
      }
      return (groups, nil)
    }
  }

  private func unlock(_ credential: Credential) throws -> Grant {
    var keys: [Bytes: Bytes] = [:]
    for slot in slots {
      let root: Bytes
      switch credential {
      case .passphrase(let text) where slot.kind == 1:
        root = Sealing.stretch(Bytes(text), salt: slot.salt, passes: slot.word(40), kibibytes: slot.word(44))
      case .key(let key) where slot.kind == 2: root = key
      case .identity(let secret, let pin) where slot.kind == 2: root = try agreedKey(secret, pin)
      default: continue
      }
      let kek = Sealing.derive(32, root, "kek", vaultID, slot.id)
      let sealed = Bytes(slot.bytes[64...])
      guard let key = Sealing.open(sealed, key: kek, context: [Bytes("slot"), vaultID, slot.head]) else { continue }
      if slot.isOwner { return .vaultKey(key) }
      if sections.contains(where: { $0.id == slot.groupID && $0.epoch == slot.epoch }) {
        keys[slot.groupID] = keys[slot.groupID] ?? key
      }
    }
    if !keys.isEmpty { return .groupKeys(keys) }
    throw Cursor.Unreadable(part: "a credential that opens no slot")
  }

  /// The raw key of an identity's slots, if the pin is of this vault.
  private func agreedKey(_ secret: Bytes, _ pin: String) throws -> Bytes {
    let (id, point) = try Agreement.parsed(pin: pin)
    try require(id == vaultID, "the vault of the pin")
    return try Agreement.holderKey(secret, vaultID: id, vaultPoint: point)
  }

  private func floors(_ vaultKey: Bytes) throws -> ([Floor], LogItem?) {
    let context = [Bytes("manifest"), boundHeader, Bytes(slots.map(\.bytes).joined())]
    var cursor = Cursor(try openBody(manifest, step: 1024, key: vaultKey, context: context))
    let floors = try (0..<(try cursor.integer(UInt16.self))).map { _ in
      Floor(
        id: try cursor.take(16), epoch: try cursor.integer(), generation: try cursor.integer(),
        tag: try cursor.take(32), name: try cursor.lp16())
    }
    let listed = try (0..<(try cursor.integer(UInt16.self))).map { _ in
      let id = try cursor.take(16)
      let kek = try cursor.take(32)
      _ = try (cursor.integer(Int64.self), cursor.lp16())
      return (id: id, kek: kek)
    }
    let item = try LogItem(extensionField: try cursor.lp32(), epoch: nil, isLogged: isLogged)
    try cursor.finish()
    try require(floors.map(\.id) == sections.map(\.id), "the manifest's groups")
    try require(floors.map(\.epoch) == sections.map(\.epoch), "the manifest's epochs")
    try require(listed.map(\.id) == slots.map(\.id), "the manifest's slots")
    for (slot, line) in zip(slots, listed) {
      try require(slot.isOwner == (line.kek == .zeros(32)), "the manifest's KEKs")
    }
    return (floors, item)
  }

  private func group(_ section: Section, _ key: Bytes, _ floor: Floor?, _ deviceKey: Bytes) throws -> OpenGroup {
    let context = [Bytes("section"), vaultID, section.id, .integer(section.epoch)]
    var cursor = Cursor(try openBody(section.sealed, step: 1024, key: key, context: context))
    let generation = try cursor.integer(UInt64.self)
    let base = (generation: try cursor.integer(UInt64.self), tag: try cursor.take(32))
    var state = GroupState(
      name: try cursor.lp16(), epoch: section.epoch, generation: generation, tag: section.sealed.tag)
    let records = RecordReading(vaultID: vaultID, group: section.id, key: key, deviceKey: deviceKey)
    for _ in 0..<(try cursor.integer(UInt32.self)) {
      let record = try records.record(&cursor)
      state.put(record, revision: record.revision ?? 0)
    }
    var item = try LogItem(extensionField: try cursor.lp32(), epoch: section.epoch, isLogged: isLogged)
    try cursor.finish()
    try require(base.generation <= self.generation, "a section's base")
    if let floor {
      let isFloor = generation == floor.generation && section.sealed.tag == floor.tag
      let isFold = generation > floor.generation && base == (self.generation, manifest.tag)
      try require(isFloor || isFold, "a section's floor")
      try require(state.name == floor.name, "a group's name")
    }
    for entry in entries where entry.group == section.id {
      try apply(entry, section, key, records, to: &state, &item)
    }
    return OpenGroup(section: section, key: key, state: state, logItem: item)
  }

  private func apply(
    _ entry: Entry, _ section: Section, _ key: Bytes, _ records: RecordReading, to state: inout GroupState,
    _ item: inout LogItem?
  ) throws {
    let context = [
      Bytes("entry"), vaultID, section.id, .integer(section.epoch), manifest.tag, state.tag,
    ]
    var cursor = Cursor(try openBody(entry.sealed, step: 256, key: key, context: context))
    try require(try cursor.integer(UInt64.self) == state.generation + 1, "an entry's generation")
    for index in 0..<(try cursor.integer(UInt32.self)) {
      switch try cursor.integer(UInt8.self) {
      case 1:
        let record = try records.record(&cursor)
        try require(record.revision == state.generation + 1, "a put's revision")
        state.put(record, revision: state.generation + 1)
      case 2: state.remove(service: try cursor.lp16(), key: try cursor.lp16())
      case 3:
        try require(isLogged && index == 0, "a change of the log's policy")
        item = item ?? LogItem()
        item?.policy = try cursor.integer()
      default: throw Cursor.Unreadable(part: "a change")
      }
    }
    try cursor.finish()
    state.generation += 1
    state.tag = entry.sealed.tag
  }

  private func openBody(_ sealed: Bytes, step: Int, key: Bytes, context: [Bytes]) throws -> Bytes {
    var body = try require(
      Sealing.open(sealed, key: key, context: context), String(decoding: context[0], as: UTF8.self))
    let count = body.count
    while body.last == 0 { body.removeLast() }
    try require(body.popLast() == 0x80 && Sealing.pad(body, step: step).count == count, "padding")
    return body
  }
}
