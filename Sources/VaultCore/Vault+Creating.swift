internal import VaultSealing

/// An access group that a new vault starts with.
public struct NewGroup: Sendable {
  let name: String
  let fill: @Sendable (inout Batch) throws(VaultError) -> Void
  let service: String?

  /// An empty group.
  public init(_ name: String = AccessGroup.defaultName) {
    (self.name, service, fill) = (name, nil, { _ in })
  }

  /// A group with records of one service.
  public init(
    _ name: String, service: String, _ fill: @escaping @Sendable (inout Batch) throws(VaultError) -> Void
  ) {
    (self.name, self.service, self.fill) = (name, service, fill)
  }
}

extension Vault {
  /// Creates a vault and opens it. Missing directories are made, 0700; the file is 0600 whatever the umask.
  ///
  /// - Parameters:
  ///   - slots: at least one; each makes its credential an owner.
  ///   - groups: the access groups to start with, with unique names.
  /// - Throws: ``VaultError/Code/alreadyExists`` when anything is at the path;
  ///   ``VaultError/Code/insecurePermissions`` when the directory does not do; else as writing.
  public static func create(
    at path: String, slots: [NewSlot], groups: [NewGroup] = [NewGroup()], options: Options = Options()
  ) throws(VaultError) -> Vault {
    guard !slots.isEmpty else { throw VaultError(.lastOwnerSlot, "a vault needs an owner") }
    let path = VaultPath(path, policy: options.pathPolicy)
    guard try path.status() == nil else { throw Replacement.exists }
    let draft = try VaultError.sealing { () throws(SealingError) in try Draft(options) }
    let bytes = try draft.file(slots, groups)
    guard bytes.count <= options.limits.fileBytes else {
      throw VaultError(.limitExceeded, "the vault would exceed \(options.limits.fileBytes) bytes")
    }
    // The reader's own code judges the file before it has a name.
    let unlocked = draft.unlocked!
    let state = try VaultState(
      FileImage(bytes), file: nil, path: path, options: options, sealer: draft.sealer
    ) { _, _ throws(VaultError) in unlocked }
    for group in state.groups { _ = try state.content(group.id) }
    try path.makeDirectory()
    try path.judgeDirectory()
    let descriptor = try Replacement(path: path).create(bytes, timeout: options.lockTimeout)
    defer { FileLock.release(descriptor) }
    state.adopt(OpenFile(descriptor, try descriptor.status()))
    return Vault(state)
  }
}

/// A vault in the making. Draws its random bytes in the order of annex A.
private final class Draft {
  let options: Vault.Options
  let sealer: Sealer
  let vaultID: Identifier
  let vaultKey: SealingKey
  var unlocked: Unlocked?

  init(_ options: Vault.Options) throws(SealingError) {
    self.options = options
    sealer = try Sealer(random: options.random)
    vaultID = Identifier(options.random.bytes(Identifier.count))
    vaultKey = try SealingKey(from: options.random)
  }

  func file(_ newSlots: [NewSlot], _ newGroups: [NewGroup]) throws(VaultError) -> [UInt8] {
    var slots: [Slot] = []
    var listed: [Manifest.Slot] = []
    for new in newSlots {
      let slot = try slot(new)
      slots.append(slot)
      guard new.label.utf8.count <= 1024 else { throw VaultError(.invalidName, "a label has at most 1024 bytes") }
      listed.append(Manifest.Slot(id: slot.id, kek: nil, created: options.now(), label: Array(new.label.utf8)))
    }
    try Slot.check(slots)
    var contents: [GroupContent] = []
    for group in newGroups { contents.append(try content(group)) }
    guard Set(contents.map(\.name)).count == contents.count, contents.count <= Limits.groups else {
      throw VaultError(.invalidName, "two access groups of one name, or too many")
    }
    contents.sort { $0.id < $1.id }
    let writer = SnapshotWriter(vaultID: vaultID, generation: 1, slots: slots, sealer: sealer)
    let sections = contents.map { writer.section($0, generation: 1, baseGeneration: 1, baseTag: .zero) }
    let floors = zip(contents, sections).map { content, section in
      Manifest.Group(
        id: content.id, epoch: content.epoch, floorGeneration: 1, floorTag: section.tag, name: content.name)
    }
    return writer.ownerFile(
      sections, manifest: Manifest(groups: floors, slots: listed), vaultKey: vaultKey,
      reserve: options.reserveBytes)
  }

  private func slot(_ new: NewSlot) throws(VaultError) -> Slot {
    let cost = try new.decidedCost()
    let id = Identifier(options.random.bytes(Identifier.count))
    let salt = cost == nil ? [UInt8](repeating: 0, count: 16) : options.random.bytes(16)
    let root = try new.credential.root(salt: salt, cost: cost ?? .minimum)
    let kek = try VaultError.sealing { () throws(SealingError) in
      try Slot.kek(from: root, vault: vaultID, slot: id, sealer)
    }
    if unlocked == nil { unlocked = Unlocked(grant: .owner(vaultKey), slot: id, kek: kek) }
    return Slot.make(
      kind: new.credential.kind, scope: .owner, id: id, cost: cost, salt: salt, vault: vaultID,
      granting: vaultKey, kek: kek, sealer: sealer)
  }

  private func content(_ group: NewGroup) throws(VaultError) -> GroupContent {
    let id = Identifier(options.random.bytes(Identifier.count))
    let key = try VaultError.sealing { () throws(SealingError) in
      try VaultState.groupKey(from: vaultKey, group: id, epoch: 1, sealer)
    }
    let content = GroupContent(id: id, vaultID: vaultID, key: key, name: try Name(group.name), limits: options.limits)
    guard let service = group.service else { return content }
    let classKey = try content.classKey(0, sealer)
    var batch = Batch(service: try Name(service)) {
      [sealer, options] (service, key, kind, value) throws(VaultError) in
      try Vault.check(value, kind, options)
      let name = Change(service: service, key: key, action: .remove)
      let sealed = name.withName {
        sealer.sealValue(
          value, with: classKey, as: .value(service: $0.service, key: $0.key, kind: kind.rawValue))
      }
      return Change(service: service, key: key, action: .put(kind: kind.rawValue, class: 0, sealed: sealed))
    }
    try group.fill(&batch)
    if var body = try content.entryBody(batch.changes, now: options.now(), sealer: sealer) {
      defer { body.wipe() }
      content.apply(try content.stage(body: body))
    }
    return content
  }
}
