internal import VaultSealing

/// What a credential granted, and the keys that open its slots again after the file was replaced.
struct Unlocked: Sendable {
  /// One slot that grants the whole vault, or one slot for each group in the order of the file. Never empty.
  let slots: [OpenedSlot]

  /// The slot that names the handle.
  var slot: Vault.Identifier { slots[0].id }
  /// The key of that slot.
  var kek: SealingKey { slots[0].kek }

  /// The vault key; `nil` for a group holder.
  var vaultKey: SealingKey? { isOwner ? slots[0].granted : nil }

  var isOwner: Bool { slots[0].group == nil }

  /// The slot that grants a group. Of an owner, the slot that grants the vault.
  func slot(granting group: Vault.Identifier) -> OpenedSlot? {
    isOwner ? slots[0] : slots.first { $0.group == group }
  }

  /// The ids of the slots by the group that they grant; `nil` for the whole vault.
  var slotsByGroup: [Vault.Identifier?: Vault.Identifier] {
    Dictionary(uniqueKeysWithValues: slots.map { ($0.group, $0.id) })
  }

  /// - Parameter slots: at least one. Of several slots that grant the same group, the first is used.
  init(slots: [OpenedSlot]) {
    precondition(!slots.isEmpty, "a credential that opens nothing is refused")
    if let owner = slots.first(where: { $0.group == nil }) {
      self.slots = [owner]
    } else {
      var seen: Set<Vault.Identifier?> = []
      self.slots = slots.filter { seen.insert($0.group).inserted }
    }
  }

  /// Tries the slots of the credential's kind in the order of `Docs/Format.md` section 4, step 6.
  /// - Throws: ``VaultError/Code/credentialRejected`` if none opens; ``VaultError/Code/staleCredential``;
  ///   ``VaultError/Code/tampered`` if an identity trusts a different vault; ``VaultError/Code/kdfMemory``.
  init(_ snapshot: Snapshot, with credential: Vault.Credential, sealer: Sealer) throws(VaultError) {
    try credential.check(snapshot)
    if case .slot(let key) = credential.material {
      guard key.vault == snapshot.vaultID else {
        throw VaultError(.credentialRejected, "the key belongs to a different vault")
      }
      try key.slots[0].kek.origin.check()
      self = try Self.reopening(key.slots, of: snapshot, sealer)
      return
    }
    let slots = snapshot.slots.filter { $0.kind == credential.kind }
    for slot in slots where slot.scope == .owner {
      guard let opened = try Self.opening(slot, of: snapshot, with: credential, sealer) else { continue }
      self.init(slots: [opened])
      return
    }
    let isCurrent = { (slot: StoredSlot) in snapshot.hasSection(slot.groupID, epoch: slot.epoch) }
    var opened: [OpenedSlot] = []
    for slot in slots where slot.scope != .owner && isCurrent(slot) {
      do throws(VaultError) {
        if let slot = try Self.opening(slot, of: snapshot, with: credential, sealer) { opened.append(slot) }
      } catch {
        // What others chose for their passphrases closes no group that is open already.
        guard error.code == .kdfMemory, !opened.isEmpty else { throw error }
      }
    }
    if opened.isEmpty {
      // A slot that opens and grants nothing is refused as what it is.
      for slot in slots where slot.scope != .owner && !isCurrent(slot) {
        _ = try Self.opening(slot, of: snapshot, with: credential, sealer)
      }
      throw VaultError(.credentialRejected, "no slot opens with this credential")
    }
    self.init(slots: opened)
  }

  /// The groups whose slots a credential opens, and whose sections are not in the file, in the order of the slots. Of a
  /// whole file they are those of slots that a rotation has left without use; of a damaged one, also those that are
  /// lost.
  ///
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  static func groupsWithoutSection(
    of snapshot: Snapshot, with credential: Vault.Credential, sealer: Sealer
  ) throws(VaultError) -> [Vault.Identifier] {
    var missing: [Vault.Identifier] = []
    for slot in snapshot.slots where slot.isKnown && slot.scope != .owner {
      guard !snapshot.hasSection(slot.groupID, epoch: slot.epoch), !missing.contains(slot.groupID) else { continue }
      do throws(VaultError) {
        if case .slot(let key) = credential.material {
          guard let kept = key.slots.first(where: { $0.id == slot.id }) else { continue }
          _ = try open(slot, snapshot, kept.kek, kept.holder, sealer)
        } else if slot.kind == credential.kind {
          _ = try opening(slot, of: snapshot, with: credential, sealer)
        }
      } catch {
        switch error.code {
        case .staleCredential: missing.append(slot.groupID)
        // It stays unknown whether the credential opens this slot.
        case .kdfMemory: continue
        default: throw error
        }
      }
    }
    return missing
  }

  /// All owner slots that a credential opens.
  static func ownerSlots(
    of snapshot: Snapshot, with credential: Vault.Credential, sealer: Sealer
  ) throws(VaultError) -> [OpenedSlot] {
    try credential.check(snapshot)
    if case .slot = credential.material {
      let opened = try Unlocked(snapshot, with: credential, sealer: sealer)
      return opened.isOwner ? opened.slots : []
    }
    var opened: [OpenedSlot] = []
    for slot in snapshot.slots where slot.kind == credential.kind && slot.scope == .owner {
      if let slot = try opening(slot, of: snapshot, with: credential, sealer) { opened.append(slot) }
    }
    return opened
  }

  /// Derives the key of a slot from a credential and opens the slot; `nil` if it does not open.
  private static func opening(
    _ slot: StoredSlot, of snapshot: Snapshot, with credential: Vault.Credential, _ sealer: Sealer
  ) throws(VaultError) -> OpenedSlot? {
    let root = try credential.root(salt: slot.salt, cost: slot.cost)
    for root in [root, credential.nextKey].compactMap(\.self) {
      let kek = try StoredSlot.kek(from: root, vault: snapshot.vaultID, slot: slot.id, sealer)
      if let opened = try open(slot, snapshot, kek, credential.holder, sealer) { return opened }
    }
    return nil
  }

  /// Opens the same slots again in a file that was replaced. A group whose slot is gone is not granted any more.
  func reopened(in snapshot: Snapshot, sealer: Sealer) throws(VaultError) -> Unlocked {
    try Self.reopening(slots.map { ($0.id, $0.kek, $0.holder) }, of: snapshot, sealer)
  }

  private static func reopening(
    _ keys: [SlotKey.Slot], of snapshot: Snapshot, _ sealer: Sealer
  ) throws(VaultError) -> Unlocked {
    var opened: [OpenedSlot] = []
    var refusal: VaultError?
    for key in keys {
      do throws(VaultError) {
        guard let slot = snapshot.slots.first(where: { $0.id == key.id }),
          let granted = try open(slot, snapshot, key.kek, key.holder, sealer)
        else { throw VaultError(.credentialRejected, "the slot that opened this vault was removed or changed") }
        opened.append(granted)
      } catch {
        guard [.credentialRejected, .staleCredential].contains(error.code) else { throw error }
        refusal = refusal ?? error
      }
    }
    if opened.isEmpty, let refusal { throw refusal }
    return Unlocked(slots: opened)
  }

  private static func open(
    _ slot: StoredSlot, _ snapshot: Snapshot, _ kek: SealingKey, _ holder: VaultIdentity.PublicKey?, _ sealer: Sealer
  ) throws(VaultError) -> OpenedSlot? {
    let bytes = slot.bytes.bytes
    sealer.bind(to: .slot(vault: snapshot.vaultID, header: bytes.extracting(..<StoredSlot.headerCount)))
    guard let key = try sealer.openedKey(bytes.extracting(StoredSlot.headerCount...), with: kek) else { return nil }
    var granted: Vault.Identifier?
    if case .group(let group, let epoch) = slot.scope {
      guard snapshot.hasSection(group, epoch: epoch) else {
        throw VaultError(
          .staleCredential, "the group was rotated or removed after this slot was made")
      }
      granted = group
    }
    return OpenedSlot(id: slot.id, kek: kek, group: granted, granted: key, holder: holder)
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
