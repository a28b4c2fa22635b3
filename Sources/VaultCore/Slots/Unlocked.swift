internal import VaultSealing

/// The key that a credential granted, and the key that opens its slot again after the file was replaced.
struct Unlocked: Sendable {
  enum Grant: Sendable {
    case owner(SealingKey)
    case holder(of: Vault.Identifier, SealingKey)
  }

  let grant: Grant
  let slot: Vault.Identifier
  let kek: SealingKey

  var isOwner: Bool { if case .owner = grant { true } else { false } }

  /// Tries the slots of the credential's kind in the order of `Docs/Format.md` section 4, step 6.
  /// - Throws: ``VaultError/Code/credentialRejected`` if none opens; ``VaultError/Code/staleCredential``;
  ///   ``VaultError/Code/kdfMemory``.
  init(_ snapshot: Snapshot, with credential: Vault.Credential, sealer: Sealer) throws(VaultError) {
    if case .slot(let key) = credential.material {
      guard key.vault == snapshot.vaultID else {
        throw VaultError(.credentialRejected, "the key belongs to a different vault")
      }
      try key.kek.origin.check()
      self = try Self.reopening(key.slot, of: snapshot, kek: key.kek, sealer)
      return
    }
    for slot in Self.order(snapshot, kind: credential.kind) {
      if let opened = try Self.opening(slot, of: snapshot, with: credential, sealer) {
        self = opened
        return
      }
    }
    throw VaultError(.credentialRejected, "no slot opens with this credential")
  }

  /// All owner slots that a credential opens.
  static func ownerSlots(
    of snapshot: Snapshot, with credential: Vault.Credential, sealer: Sealer
  ) throws(VaultError) -> [Unlocked] {
    if case .slot = credential.material {
      let opened = try Unlocked(snapshot, with: credential, sealer: sealer)
      return opened.isOwner ? [opened] : []
    }
    var opened: [Unlocked] = []
    for slot in snapshot.slots where slot.kind == credential.kind && slot.scope == .owner {
      if let slot = try opening(slot, of: snapshot, with: credential, sealer) { opened.append(slot) }
    }
    return opened
  }

  /// Derives the key of a slot from a credential and opens the slot; `nil` if it does not open.
  private static func opening(
    _ slot: StoredSlot, of snapshot: Snapshot, with credential: Vault.Credential, _ sealer: Sealer
  ) throws(VaultError) -> Unlocked? {
    let root = try credential.root(salt: slot.salt, cost: slot.cost)
    let kek = try StoredSlot.kek(from: root, vault: snapshot.vaultID, slot: slot.id, sealer)
    return try open(slot, snapshot, kek, sealer).map { Unlocked(grant: $0, slot: slot.id, kek: kek) }
  }

  /// Opens the same slot again in a file that was replaced.
  func reopened(in snapshot: Snapshot, sealer: Sealer) throws(VaultError) -> Unlocked {
    try Self.reopening(slot, of: snapshot, kek: kek, sealer)
  }

  private static func reopening(
    _ id: Vault.Identifier, of snapshot: Snapshot, kek: SealingKey, _ sealer: Sealer
  ) throws(VaultError) -> Unlocked {
    guard let slot = snapshot.slots.first(where: { $0.id == id }), let grant = try open(slot, snapshot, kek, sealer)
    else { throw VaultError(.credentialRejected, "the slot that opened this vault was removed or changed") }
    return Unlocked(grant: grant, slot: id, kek: kek)
  }

  init(grant: Grant, slot: Vault.Identifier, kek: SealingKey) {
    self.grant = grant
    self.slot = slot
    self.kek = kek
  }

  private static func order(_ snapshot: Snapshot, kind: UInt8) -> [StoredSlot] {
    let slots = snapshot.slots.filter { $0.kind == kind }
    let isCurrent = { (slot: StoredSlot) in snapshot.section(slot.groupID)?.epoch == slot.epoch }
    return slots.filter { $0.scope == .owner } + slots.filter { $0.scope != .owner && isCurrent($0) }
      + slots.filter { $0.scope != .owner && !isCurrent($0) }
  }

  private static func open(
    _ slot: StoredSlot, _ snapshot: Snapshot, _ kek: SealingKey, _ sealer: Sealer
  ) throws(VaultError) -> Grant? {
    let bytes = slot.bytes.bytes
    sealer.bind(to: .slot(vault: snapshot.vaultID, header: bytes.extracting(..<StoredSlot.headerCount)))
    guard let key = try sealer.openedKey(bytes.extracting(StoredSlot.headerCount...), with: kek) else { return nil }
    switch slot.scope {
    case .owner: return .owner(key)
    case .group(let group, let epoch):
      guard let section = snapshot.section(group), section.epoch == epoch else {
        throw VaultError(
          .staleCredential, "the group was rotated or removed after this slot was made")
      }
      return .holder(of: group, key)
    }
  }
}

extension StoredSlot {
  /// KEK = D(32, root, "kek", vault id, slot id).
  static func kek(
    from root: SealingKey, vault: Vault.Identifier, slot: Vault.Identifier, _ sealer: Sealer
  ) throws(VaultError) -> SealingKey {
    try sealer.deriveKey("kek", from: root) {
      $0.add(vault)
      $0.add(slot)
    }
  }
}
