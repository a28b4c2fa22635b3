internal import VaultSealing

/// The content of an owner's next full write: slots, groups and keys, which may be changed before the file is written
/// (`Docs/Format.md` 5.2, 5.5, 5.6). All changes are in one write, so no intermediate state is visible.
struct VaultDraft {
  struct SlotEntry {
    var slot: StoredSlot
    var listed: Manifest.SlotLine
  }

  struct GroupEntry {
    let content: GroupContent
    var name: Vault.Name
    var epoch: UInt32
    /// The key of the group after the write; it differs from the content's key if the group is rotated.
    var key: SealingKey
    /// The present section; `nil` if the group has changed and needs a new one.
    var sealed: [UInt8]?
    var extensionField: [UInt8]
    var dropsHistory = false
    /// The generation the group had before this write, or that of another copy, which it follows.
    fileprivate(set) var generation: UInt64
    /// The epoch and key before this write; `nil` for a new group.
    var former: (epoch: UInt32, key: SealingKey)?

    /// Whether each value is sealed again.
    var isResealed: Bool { dropsHistory || !key.isEqual(to: content.key) }

    init(content: GroupContent, name: Vault.Name, epoch: UInt32, key: SealingKey, sealed: [UInt8]?) {
      self.content = content
      self.name = name
      self.epoch = epoch
      self.key = key
      self.sealed = sealed
      generation = content.generation
      extensionField = content.extensionField
      former = (content.epoch, content.key)
    }
  }

  let vaultID: Vault.Identifier
  /// The generation of this owner write.
  private(set) var generation: UInt64
  var vaultKey: SealingKey
  var slots: [SlotEntry]
  var groups: [GroupEntry]
  /// The slots that rotations could not wrap again.
  private(set) var dropped: [SlotEntry] = []
  /// The new slots of holders by public key, by the ids of those that they replace.
  var renewed: [Vault.Identifier: (id: Vault.Identifier, kek: SealingKey)] = [:]
  var extensionField: [UInt8]
  /// The feature flag of logs.
  var isLogged = false
  /// Whether this write sets the policy of the logs.
  var setsLogging = false
  let options: Vault.Options
  let sealer: Sealer

  static let withoutOwner = VaultError(.lastOwnerSlot, "the vault would be left without an owner")
  static let ownerRequired = VaultError(
    .ownerRequired, "only an owner may list slots and change slots, groups and keys")

  private static let groupIsGone = VaultError(.groupNotGranted, "the access group does not exist any more")

  /// Starts a new vault. Random bytes are drawn in the order of annex A.
  init(new options: Vault.Options) throws(VaultError) {
    sealer = try Sealer(random: options.random)
    vaultID = Vault.Identifier(options.random.bytes(Vault.Identifier.count))
    vaultKey = try SealingKey(from: options.random)
    generation = 1
    slots = []
    groups = []
    extensionField = []
    self.options = options
  }

  /// Starts from parts, for a salvage.
  init(
    vaultID: Vault.Identifier, generation: UInt64, vaultKey: SealingKey, extensionField: [UInt8],
    options: Vault.Options,
    sealer: Sealer
  ) {
    self.vaultID = vaultID
    self.generation = generation
    self.vaultKey = vaultKey
    self.extensionField = extensionField
    slots = []
    groups = []
    self.options = options
    self.sealer = sealer
  }

  /// The groups to repair, and how (5.6).
  struct RepairRequest: Sendable {
    let groups: Set<Vault.Identifier>
    let how: GroupRepair
  }

  /// Starts from a loaded vault. Verifies every group except those to repair.
  /// - Throws: ``VaultError/Code/ownerRequired`` for a group holder; the code of a group that does not verify;
  ///   ``VaultError/Code/conflict`` if a group to repair verifies.
  init(_ state: VaultState, repairing repair: RepairRequest? = nil) throws(VaultError) {
    guard let vaultKey = state.unlocked.vaultKey, let manifest = state.manifest else {
      throw Self.ownerRequired
    }
    guard let image = state.image else { throw VaultError(.locked, "a full write needs the loaded file") }
    generation = try Self.generation(after: state.snapshot.generation)
    vaultID = state.snapshot.vaultID
    self.vaultKey = vaultKey
    slots = zip(state.snapshot.slots, manifest.slots).map { SlotEntry(slot: $0, listed: $1) }
    extensionField = manifest.extensionField
    isLogged = state.snapshot.isLogged
    options = state.options
    sealer = state.sealer
    groups = []
    if let repair, !repair.groups.isSubset(of: state.groups.map(\.id)) { throw Self.groupIsGone }
    for group in state.groups {
      if let repair, repair.groups.contains(group.id) {
        switch group.refusal(state.snapshot, sealer, .format)?.code {
        case nil: throw VaultError(.conflict, "the access group verifies: there is nothing to repair")
        case .tampered, .malformed, .invalidName, .limitExceeded: break
        default: _ = try state.content(group.id)  // the error does not concern the group
        }
        try self.repair(group, repair.how)
        continue
      }
      let content = try state.content(group.id)
      let isDue = try content.hasDueRecord(at: options.now())
      groups.append(
        GroupEntry(
          content: content, name: content.name, epoch: content.epoch, key: content.key,
          sealed: content.entryCount == 0 && !isDue ? image[group.section.sealed].copy : nil))
    }
  }

  private static func generation(after last: UInt64) throws(VaultError) -> UInt64 {
    guard Vault.Limits.generations.contains(last + 1) else {
      throw VaultError(.limitExceeded, "the vault has no generation left")
    }
    return last + 1
  }

  /// Gives the vault, and each group whose state differs, a generation above that of another copy.
  /// - Throws: ``VaultError/Code/limitExceeded``.
  mutating func raise(above other: RollbackMark) throws(VaultError) {
    if let write = other.ownerWrite, write.generation >= generation {
      generation = try Self.generation(after: write.generation)
    }
    for index in groups.indices {
      let group = groups[index]
      guard let known = other.groups[group.content.id], known.generation >= group.generation,
        known.tag != group.content.tag
      else { continue }
      groups[index].generation = known.generation
      groups[index].sealed = nil
    }
  }

  private mutating func repair(_ group: LoadedGroup, _ how: GroupRepair) throws(VaultError) {
    guard how == .empty, let floor = group.floor else {
      slots.removeAll { $0.slot.scope != .owner && $0.slot.groupID == group.id }
      return
    }
    // The next epoch, so that nothing sealed for the old section opens in the new one.
    let epoch = try Self.epoch(after: group.section.epoch)
    let key = try groupKey(group.id, epoch: epoch)
    let content = GroupContent(
      id: group.id, vaultID: vaultID, key: key, name: floor.name, limits: options.limits, epoch: epoch,
      generation: floor.floorGeneration)
    groups.append(GroupEntry(content: content, name: floor.name, epoch: epoch, key: key, sealed: nil))
    try logNewGroup(after: (group.section.epoch, try groupKey(group.id, epoch: group.section.epoch)))
    rewrapSlots(of: group.id, epoch: epoch, key: key)
  }

  /// The bytes of the file.
  func file() throws(VaultError) -> [UInt8] {
    let slots = self.slots.map(\.slot)
    guard hasOwner else { throw Self.withoutOwner }
    try slots.check()
    guard Set(groups.map(\.name)).count == groups.count else {
      throw VaultError(.alreadyExists, "an access group of that name exists")
    }
    guard groups.count <= Vault.Limits.groups else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.groups) access groups")
    }
    var writer = SnapshotWriter(
      vaultID: vaultID, generation: generation, slots: slots, sealer: sealer, now: options.now())
    writer.isLogged = isLogged
    writer.progress = ProgressCounter(
      options, total: groups.reduce(0) { $0 + ($1.isResealed ? $1.content.recordCount : 0) })
    var sections: [SnapshotWriter.SealedSection] = []
    var floors: [Manifest.GroupLine] = []
    for group in groups.sorted(by: { $0.content.id < $1.content.id }) {
      let content = group.content
      var floor = group.generation
      if let sealed = group.sealed {
        sections.append(.init(id: content.id, epoch: group.epoch, sealed: sealed))
      } else {
        floor += 1
        guard Vault.Limits.generations.contains(floor) else {
          throw VaultError(.limitExceeded, "a group has no generation left")
        }
        sections.append(try writer.section(group, generation: floor, baseGeneration: generation, baseTag: .zero))
      }
      floors.append(
        Manifest.GroupLine(
          id: content.id, epoch: group.epoch, floorGeneration: floor, floorTag: sections[sections.count - 1].tag,
          name: group.name))
    }
    return try writer.ownerFile(
      sections,
      manifest: Manifest(
        groups: floors, slots: self.slots.map(\.listed),
        extensionField: try HolderKeys.keeping(Set(slots.map(\.id)), in: extensionField)),
      vaultKey: vaultKey)
  }

  // MARK: Slots

  /// Whether an owner slot of a known kind is left. It is unknown whether a slot of an unknown kind opens.
  var hasOwner: Bool { slots.contains { $0.slot.scope == .owner && $0.slot.isKnown } }

  /// Adds a slot that grants the vault key, or the key of one group.
  /// - Parameter label: the label, if the new slot has none.
  /// - Returns: The key that the slot grants, with which a handle can continue.
  @discardableResult
  mutating func add(
    _ new: PreparedSlot, group: Vault.Identifier? = nil, label: [UInt8] = []
  ) throws(VaultError) -> Unlocked {
    var scope = StoredSlot.Scope.owner
    var granted = vaultKey
    if let group {
      let entry = groups[try index(of: group)]
      scope = .group(group, epoch: entry.epoch)
      granted = entry.key
    }
    let kek =
      switch new.access {
      case .kek(let kek): kek
      case .agreement(let holder): try admit(holder, to: new.id, group: group)
      }
    let slot = StoredSlot.make(
      kind: new.kind, scope: scope, id: new.id, cost: new.cost, salt: new.salt, vault: vaultID, granting: granted,
      kek: kek, sealer: sealer)
    slots.append(
      SlotEntry(
        slot: slot,
        listed: Manifest.SlotLine(
          id: new.id, kek: group == nil ? nil : kek, created: options.now(), label: new.label ?? label)))
    return Unlocked(slots: [OpenedSlot(id: new.id, kek: kek, group: group, granted: granted)])
  }

  /// Removes a slot.
  /// - Returns: What it granted.
  /// - Throws: ``VaultError/Code/notFound``.
  mutating func remove(slot id: Vault.Identifier) throws(VaultError) -> StoredSlot.Scope {
    guard let index = slots.firstIndex(where: { $0.slot.id == id }) else {
      throw VaultError(.notFound, "there is no slot with that id")
    }
    return slots.remove(at: index).slot.scope
  }

  // MARK: Groups

  /// Adds an empty group.
  mutating func addGroup(_ name: Vault.Name) throws(VaultError) -> GroupContent {
    let id = Vault.Identifier(options.random.bytes(Vault.Identifier.count))
    let key = try groupKey(id, epoch: 1)
    let content = GroupContent(id: id, vaultID: vaultID, key: key, name: name, limits: options.limits)
    groups.append(GroupEntry(content: content, name: name, epoch: 1, key: key, sealed: nil))
    try logNewGroup()
    return content
  }

  /// Removes a group with its records and its slots.
  mutating func removeGroup(_ id: Vault.Identifier) throws(VaultError) {
    groups.remove(at: try index(of: id))
    slots.removeAll { $0.slot.scope != .owner && $0.slot.groupID == id }
  }

  mutating func rename(_ id: Vault.Identifier, to name: Vault.Name) throws(VaultError) {
    let index = try index(of: id)
    groups[index].name = name
    groups[index].sealed = nil
  }

  /// Applies the changes of an entry's body to the group's new section.
  mutating func apply(_ body: WipedBuffer, to id: Vault.Identifier) throws(VaultError) {
    let index = try index(of: id)
    let content = groups[index].content
    content.apply(try content.stage(body: body))
    groups[index].sealed = nil
  }

  // MARK: Rotation

  /// Gives a group a new key and the next epoch. Its slots are wrapped again with their stored keys. Slots of unknown
  /// kinds cannot be wrapped and are removed.
  mutating func rotate(_ id: Vault.Identifier, droppingHistory: Bool) throws(VaultError) {
    let index = try index(of: id)
    let epoch = try Self.epoch(after: groups[index].epoch)
    let key = try groupKey(id, epoch: epoch)
    groups[index].epoch = epoch
    groups[index].key = key
    groups[index].sealed = nil
    groups[index].dropsHistory = groups[index].dropsHistory || droppingHistory
    try keepLogKey(of: index)
    rewrapSlots(of: id, epoch: epoch, key: key)
  }

  static func epoch(after epoch: UInt32) throws(VaultError) -> UInt32 {
    guard epoch < (1 << 31) - 1 else { throw VaultError(.limitExceeded, "the group has no epoch left") }
    return epoch + 1
  }

  mutating func rewrapSlots(of group: Vault.Identifier, epoch: UInt32, key: SealingKey) {
    rewrap({ $0.scope != .owner && $0.groupID == group }, .group(group, epoch: epoch), granting: key) {
      $0.listed.kek
    }
  }

  /// Gives the vault and every group new keys. Owner slots that are not among `kept` cannot be wrapped again and are
  /// removed. Holders by public key get new slots.
  ///
  /// - Parameter keepingHolders: see ``renewHolders(known:keepingHolders:)``.
  mutating func rotateVault(
    keeping kept: [Vault.Identifier: OpenedSlot], droppingHistory: Bool, keepingHolders: Bool
  ) throws(VaultError) {
    vaultKey = try SealingKey(from: options.random)
    try renewHolders(known: kept.compactMapValues(\.holder), keepingHolders: keepingHolders)
    let keks = renewed.values.reduce(into: kept.mapValues(\.kek)) { $0[$1.id] = $1.kek }
    // Whatever a slot of an unknown kind grants, that key is replaced.
    rewrap({ $0.scope == .owner || !$0.isKnown }, .owner, granting: vaultKey) { keks[$0.slot.id] }
    for group in groups.map(\.content.id) { try rotate(group, droppingHistory: droppingHistory) }
  }

  /// Wraps the granted key of slots again, and removes the slots that cannot be wrapped.
  private mutating func rewrap(
    _ isConcerned: (StoredSlot) -> Bool, _ scope: StoredSlot.Scope, granting key: SealingKey,
    kek: (SlotEntry) -> SealingKey?
  ) {
    var kept: [SlotEntry] = []
    for entry in slots {
      guard isConcerned(entry.slot) else {
        kept.append(entry)
        continue
      }
      guard entry.slot.isKnown, let kek = kek(entry) else {
        dropped.append(entry)
        continue
      }
      kept.append(
        SlotEntry(
          slot: entry.slot.rewrapped(scope, granting: key, kek: kek, vault: vaultID, sealer: sealer),
          listed: entry.listed))
    }
    slots = kept
  }

  private func index(of group: Vault.Identifier) throws(VaultError) -> Int {
    guard let index = groups.firstIndex(where: { $0.content.id == group }) else {
      throw Self.groupIsGone
    }
    return index
  }

  func groupKey(_ id: Vault.Identifier, epoch: UInt32) throws(VaultError) -> SealingKey {
    try VaultState.groupKey(from: vaultKey, group: id, epoch: epoch, sealer)
  }
}
