internal import DurableFiles
internal import VaultSealing

/// Makes a new vault from the parts of a damaged file that can be saved.
struct Salvager {
  private let damaged: DamagedFile
  private let unlocked: Unlocked
  private let manifest: Manifest?
  /// The groups of a group holder that have a slot and no section any more.
  private let missingGroups: [Vault.Identifier]
  private let options: Vault.Options
  private let sealer: Sealer

  private var snapshot: Snapshot { damaged.snapshot }

  /// - Throws: ``VaultError/Code/credentialRejected`` if no remaining slot opens.
  init(_ image: FileImage, _ credential: Vault.Credential, _ options: Vault.Options) throws(VaultError) {
    damaged = try DamagedFile(image)
    sealer = try Sealer(random: options.random)
    unlocked = try Unlocked(damaged.snapshot, with: credential, sealer: sealer)
    missingGroups =
      unlocked.isOwner ? [] : try Unlocked.groupsWithoutSection(of: damaged.snapshot, with: credential, sealer: sealer)
    self.options = options
    manifest = try Self.manifest(damaged, unlocked, sealer)
  }

  private static func manifest(
    _ damaged: DamagedFile, _ unlocked: Unlocked, _ sealer: Sealer
  ) throws(VaultError) -> Manifest? {
    guard let vaultKey = unlocked.vaultKey, !damaged.snapshot.manifest.isEmpty else { return nil }
    let (header, slotBytes) = (damaged.snapshot.boundHeader, damaged.statedSlots.flatMap(\.bytes))
    do throws(VaultError) {
      return try sealer.withSecretBody(
        damaged.image[damaged.snapshot.manifest], step: Manifest.step, with: vaultKey,
        as: .manifest(header: header.bytes, slots: slotBytes.bytes)
      ) { (body) throws(VaultError) in try Manifest(body, slots: damaged.statedSlots) }
    } catch {
      guard error.code != .io else { throw error }  // no guarded memory
      return nil
    }
  }

  /// Returns the new vault, the key that opens it, and the report.
  func run() throws(VaultError) -> (draft: VaultDraft, opening: Unlocked, report: SalvageReport) {
    var saved: [Vault.Identifier: SalvagedGroup] = [:]
    for section in snapshot.sections {
      // Of several sections with one id, the first that verifies is used (without a manifest: the first that is whole),
      // otherwise the first from which anything is saved.
      guard !(saved[section.id].map(isBest) ?? false), let key = try key(of: section) else { continue }
      let floor = manifest?.groups.first { $0.id == section.id }
      let group = try SalvagedGroup(
        section, of: damaged, key: key, floor: floor, isOwner: unlocked.isOwner, options: options,
        sealer: sealer)
      if isBest(group) || saved[section.id]?.isEmptyHanded ?? true { saved[section.id] = group }
    }
    let groups = saved.values.sorted { $0.id < $1.id }
    let unseen = (manifest?.groups ?? []).filter { saved[$0.id] == nil }
    // With a manifest, an unlisted section has a damaged header. Its group is reported under its own name.
    let lost =
      groups.filter { $0.isEmptyHanded && (manifest == nil || $0.isListed) }.map(\.title)
      + unseen.map(\.name.text) + missingGroups.filter { saved[$0] == nil }.map(\.description)
    let kept = groups.filter { !$0.isEmptyHanded }
    guard !kept.isEmpty || manifest?.groups.isEmpty == true else {
      throw VaultError(.damaged, "nothing could be saved")
    }
    return try assemble(kept, lost: lost)
  }

  private func isBest(_ group: SalvagedGroup) -> Bool { manifest == nil ? group.isWhole : group.isVerified }

  private func key(of section: Snapshot.Section) throws(VaultError) -> SealingKey? {
    guard let vaultKey = unlocked.vaultKey else { return unlocked.slot(granting: section.id)?.granted }
    return try VaultState.groupKey(from: vaultKey, group: section.id, epoch: section.epoch, sealer)
  }

  private func assemble(
    _ saved: [SalvagedGroup], lost: [String]
  ) throws(VaultError) -> (draft: VaultDraft, opening: Unlocked, report: SalvageReport) {
    let vaultKey = if let known = unlocked.vaultKey { known } else { try SealingKey(from: options.random) }
    // A header that no manifest authenticates must not exhaust the generations.
    let isPlausible = snapshot.generation < (manifest == nil ? 1 << 40 : Vault.Limits.generations.upperBound)
    let generation = isPlausible ? snapshot.generation : 0
    var draft = VaultDraft(
      vaultID: snapshot.vaultID, generation: generation + 1, vaultKey: vaultKey,
      extensionField: manifest?.extensionField ?? [], options: options, sealer: sealer)
    var groups: [SalvageReport.Group] = []
    for (group, name) in zip(saved, try names(of: saved)) {
      let content = try group.content(named: name)
      try draft.adopt(content, after: group.lastEpoch, keepsKey: unlocked.isOwner && group.lastEpoch == content.epoch)
      groups.append(
        SalvageReport.Group(
          name: name, recordCount: content.recordCount, isVerified: group.isVerified, isCurrent: group.isCurrent,
          lostEntryCount: group.lostEntryCount, lostValueCount: group.lostValueCount))
    }
    try draft.adoptLogging(isListed: manifest != nil)
    let opening = Unlocked(
      slots: [OpenedSlot(id: unlocked.slot, kek: unlocked.kek, group: nil, granted: vaultKey)])
    // If the manifest authenticates the slots, slots of unknown kinds are kept as well.
    for slot in manifest == nil ? snapshot.slots : damaged.statedSlots where draft.canHave(slot) {
      let listed =
        manifest?.slots.first { $0.id == slot.id }
        ?? Manifest.SlotLine(id: slot.id, kek: nil, created: options.now(), label: [])
      draft.adopt(slot, listed, opening: opening, asOwner: unlocked.isOwner)
    }
    for group in draft.groups where group.isResealed {
      draft.rewrapSlots(of: group.content.id, epoch: group.epoch, key: group.key)
    }
    let report = SalvageReport(
      isOwner: unlocked.isOwner, groups: groups, lostGroups: lost, hasManifest: manifest != nil,
      tornTail: damaged.tornTail, slotCount: draft.slots.count)
    return (draft, opening, report)
  }

  /// Gives each group a unique name. Groups that an owner listed come first, then those with a name set by a key
  /// holder, so that changed bytes cannot take a name from them.
  private func names(of groups: [SalvagedGroup]) throws(VaultError) -> [Vault.Name] {
    var names: [Vault.Identifier: Vault.Name] = [:]
    var taken: Set<Vault.Name> = []
    for isTrusted in [\SalvagedGroup.isListed, \.hasVerifiedName, \.hasName] {
      for group in groups where names[group.id] == nil && group[keyPath: isTrusted] {
        if let name = group.name, taken.insert(name).inserted { names[group.id] = name }
      }
    }
    var all: [Vault.Name] = []
    for group in groups {
      if let name = names[group.id] { all.append(name) } else { all.append(try Vault.Name("salvaged \(group.id)")) }
    }
    return all
  }
}

extension VaultDraft {
  /// Whether the rules of 3.2 and the limits of 3.10 hold with one more slot.
  fileprivate func canHave(_ slot: StoredSlot) -> Bool {
    do throws(VaultError) { try (slots.map(\.slot) + [slot]).check() } catch { return false }
    return true
  }

  /// Adds a saved group, with its present key or with one of the next epoch.
  fileprivate mutating func adopt(
    _ content: GroupContent, after lastEpoch: UInt32, keepsKey: Bool
  ) throws(VaultError) {
    let epoch = keepsKey ? content.epoch : try Self.epoch(after: lastEpoch)
    groups.append(
      GroupEntry(
        content: content, name: content.name, epoch: epoch,
        key: keepsKey ? content.key : try groupKey(content.id, epoch: epoch), sealed: nil))
    if !keepsKey { try keepLogKey(of: groups.count - 1) }
  }

  /// Adds a slot whose key is still valid. In a group holder's salvage the first of its slots becomes an owner slot,
  /// which opens all of its groups.
  fileprivate mutating func adopt(_ slot: StoredSlot, _ listed: Manifest.SlotLine, opening: Unlocked, asOwner: Bool) {
    guard asOwner else {
      guard slot.id == opening.slot else { return }
      let owner = slot.rewrapped(.owner, granting: vaultKey, kek: opening.kek, vault: vaultID, sealer: sealer)
      let label = Manifest.SlotLine(id: listed.id, kek: nil, created: listed.created, label: listed.label)
      return slots.append(SlotEntry(slot: owner, listed: label))
    }
    if slot.isKnown, case .group(let id, let epoch) = slot.scope {
      guard let group = groups.first(where: { $0.content.id == id }), group.isResealed || group.epoch == epoch else {
        return
      }
    }
    slots.append(SlotEntry(slot: slot, listed: listed))
  }
}

extension Vault {
  /// Whether a storage has what ``salvage(in:credential:to:options:)`` needs: a slot, and a section or an entry. Which
  /// credential opens them is not known. `false` if it cannot be read.
  package static func canBeSalvaged(in storage: any VaultStorage) -> Bool {
    do throws(VaultError) {
      let file = try DamagedFile(try storage.loadImage(.format).image)
      return !file.snapshot.slots.isEmpty && !(file.snapshot.sections.isEmpty && file.entries.isEmpty)
    } catch { return false }
  }

  /// Saves what can be read from a damaged vault into a new file: the sections and entries that verify, and from other
  /// sections the records whose own values verify (`Docs/Format.md` section 4).
  ///
  /// The damaged file is not changed. For an owner the new file is the same vault, one write later: valid slots and
  /// values of "this device only" stay usable. If the manifest is lost, nothing says any more whose slots those of
  /// holders by public key are: replace them. For a group holder it is a new vault with the holder's groups. Records
  /// of a group that was not verified have the attribute ``SalvageReport/attribute``. The new file is durable when the
  /// method returns.
  /// - Throws: ``VaultError/Code/credentialRejected`` if no remaining slot opens; ``VaultError/Code/damaged`` if
  ///   nothing could be saved; ``VaultError/Code/alreadyExists`` if a file exists at `destination`;
  ///   ``VaultError/Code/io`` or ``VaultError/Code/readOnly`` without a new file.
  public static func salvage(
    at path: String, credential: Vault.Credential, to destination: String, options: Options = Options()
  ) throws(VaultError) -> SalvageReport {
    try salvage(
      in: FileStorage(path, options: options), credential: credential, to: FileStorage(destination, options: options),
      options: options)
  }

  /// Saves what can be read from a damaged vault in a storage into another: like
  /// `salvage(at:credential:to:options:)`.
  public static func salvage(
    in storage: any VaultStorage, credential: Vault.Credential, to destination: any VaultStorage,
    options: Options = Options()
  ) throws(VaultError) -> SalvageReport {
    try run(try prepareSalvage(in: storage, credential, to: destination, options), to: destination)
  }

  private static func prepareSalvage(
    in storage: any VaultStorage, _ credential: Vault.Credential, to target: any VaultStorage, _ options: Options
  ) throws(VaultError) -> Salvager {
    try target.checkVacant()
    return try Salvager(try storage.loadImage(options.limits).image, credential, options)
  }

  private static func run(_ salvager: Salvager, to target: any VaultStorage) throws(VaultError) -> SalvageReport {
    let (draft, opening, report) = try salvager.run()
    _ = try make(draft, in: target, opening: opening)
    return report
  }

  /// The asynchronous form of `salvage(at:credential:to:options:)`. Cancelling the task does not stop it.
  public static func salvage(
    at path: String, credential: Vault.Credential, to destination: String, options: Options = Options()
  ) async throws(VaultError) -> SalvageReport {
    try await salvage(
      in: .at(path, options), credential: credential, to: .at(destination, options), options: options)
  }

  /// The asynchronous form of `salvage(in:credential:to:options:)`. Cancelling the task does not stop it.
  public static func salvage(
    in storage: any VaultStorage, credential: Vault.Credential, to destination: any VaultStorage,
    options: Options = Options()
  ) async throws(VaultError) -> SalvageReport {
    let salvager = try await HelperPool.using([credential], for: storage.name).run { () throws(VaultError) in
      try prepareSalvage(in: storage, credential, to: destination, options)
    }
    return try await HelperPool.waiting(for: destination.name).run { () throws(VaultError) in
      try run(salvager, to: destination)
    }
  }
}
