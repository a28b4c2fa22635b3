internal import DurableFiles
internal import VaultSealing

/// One load of a vault with the entries applied since (`Docs/Format.md` 4, 4.2).
///
/// A vault's bytes only grow at their end, or are replaced as a whole. So a state is made once for each version that
/// the storage has had, and then follows that version: ``refresh()`` asks the storage what is behind the tail, and
/// applies what was appended. If there is another version, or other bytes before the tail, the state is of no use any
/// more: the ``VaultHandle`` loads a new one. For a file, a version is the file that has the name.
///
///     process A                          process B
///     state: version 1, tail 900
///                                        appends an entry: the bytes end at 1,100
///     refresh: applies it, tail 1,100
///                                        folds the journal: version 2
///     refresh: .replaced
///     a new state: version 2, tail 700   (the old one goes with its last reader)
///
/// A load checks the checksum, the structure, the slots and the frame of the journal, unlocks, and for an owner opens
/// the manifest. What is inside a group is checked when the first call needs that group, or at once if there is a mark
/// to compare; so a vault of many groups costs those that are used. Damage is read again twice, 50 ms apart, because it
/// may be another process that writes.
///
/// Who calls: readers through the handle, and the one thread that writes. The contents are accessed under the handle's
/// lock, or by the thread that makes the state and has not shown it to others yet; that is why the class is `Sendable`
/// without a lock of its own.
final class VaultState: @unchecked Sendable {
  let storage: any VaultStorage
  let options: Vault.Options
  let snapshot: Snapshot
  let unlocked: Unlocked
  let manifest: Manifest?
  let groups: [LoadedGroup]
  let sealer: Sealer
  /// The bytes as loaded. Kept only for full writes, which copy parts of it; `nil` in a long-lived state.
  private(set) var image: FileImage?
  /// The version with these bytes; `nil` while they are checked before they are stored.
  private(set) var version: (any StorageVersion)?
  /// The offset of the next entry.
  private(set) var tail: Int
  /// The 32 bytes before the tail: the check of the last entry, or the checksum.
  private(set) var lastBytes: Vault.Tag
  /// The number of whole entries in the journal, of all groups.
  private(set) var entryCount = 0
  /// What other handles and processes have changed, for observers; `nil` if nothing observes the vault.
  var changes: ChangesOfOthers?
  /// The check of the entry that this handle writes now. A reader may find it in the file before the writer applies it.
  var ownEntry: Vault.Tag?
  private(set) var tornTail: Vault.TornTail?
  /// Whether no other process can reach the version: it is a single-file mount whose original was replaced.
  var isFrozen: Bool { version?.isFrozen ?? false }

  /// The ids of all access groups, granted or not.
  let groupIDs: Set<Vault.Identifier>

  /// Loads the vault in `image`. Groups are opened on demand.
  init(
    _ image: FileImage, version: (any StorageVersion)?, storage: any VaultStorage, options: Vault.Options,
    sealer: Sealer, unlock: (Snapshot, Sealer) throws(VaultError) -> Unlocked
  ) throws(VaultError) {
    let snapshot = try Snapshot(image)
    let groupIDs = Set(snapshot.sections.map(\.id))
    let frame = try JournalFrame(image.span, from: snapshot.count, groups: groupIDs)
    if frame.isDamaged { throw Self.damagedJournal(tail: frame.tail) }
    try snapshot.slots.check()
    let unlocked = try unlock(snapshot, sealer)
    self.storage = storage
    self.options = options
    self.snapshot = snapshot
    self.unlocked = unlocked
    self.version = version
    self.sealer = sealer
    self.groupIDs = groupIDs
    self.image = image
    if let vaultKey = unlocked.vaultKey {
      let manifest = try Self.openManifest(snapshot, image, vaultKey, sealer)
      var groups: [LoadedGroup] = []
      for (section, floor) in zip(snapshot.sections, manifest.groups) {
        guard section.epoch == floor.epoch else { throw .tampered("a group's epoch differs from the manifest's") }
        let key = try Self.groupKey(from: vaultKey, group: section.id, epoch: section.epoch, sealer)
        groups.append(LoadedGroup(section, floor: floor, key: key, image: image))
      }
      self.manifest = manifest
      self.groups = groups
    } else {
      manifest = nil
      groups = snapshot.sections.compactMap { section in
        unlocked.slot(granting: section.id).map {
          LoadedGroup(section, floor: nil, key: $0.granted, image: image)
        }
      }
    }
    tail = frame.tail
    lastBytes = Vault.Tag(image.span, at: frame.tail - Vault.Tag.count)
    take(frame, from: image)
  }

  /// A broken entry, with its offset in the file.
  struct BrokenEntry: Error { let offset: Int }

  static func damagedJournal(tail: Int) -> VaultError {
    VaultError(
      .damaged, "a journal entry is broken, and another entry follows it", cause: BrokenEntry(offset: tail))
  }

  /// GK = D(32, VK, "group-key", group id, epoch).
  static func groupKey(
    from vaultKey: SealingKey, group: Vault.Identifier, epoch: UInt32, _ sealer: Sealer
  ) throws(VaultError) -> SealingKey {
    try sealer.deriveKey("group-key", from: vaultKey) {
      $0.add(group)
      $0.add(epoch)
    }
  }

  /// Sets the version of this state: it has the same bytes, and is durable.
  func adopt(_ version: any StorageVersion) { self.version = version }

  /// Makes the loaded bytes durable.
  func synchronize() throws(VaultError) {
    if let version { try storage.synchronize(version) }
  }

  /// Releases the loaded bytes. Groups that are not open yet keep the bytes they need; what is behind the tail is not
  /// kept.
  func dropImage() {
    image?.shorten(to: tail)
    image = nil
  }

  // MARK: Loading

  /// Reads and loads the vault, and compares it with the mark. Tries again if another process may be writing it.
  ///
  /// - Parameter stored: what the storage has had at hand; `nil` to read it. Another attempt reads anew.
  static func load(
    _ storage: any VaultStorage, as stored: StoredVault? = nil, options: Vault.Options, sealer: Sealer,
    mark: MarkKeeper?,
    unlock: (Snapshot, Sealer) throws(VaultError) -> Unlocked
  ) throws(VaultError) -> VaultState {
    var ready = stored
    return try MarkKeeper.checking(mark) { () throws(VaultError) in
      try retryingDamage(options) { () throws(VaultError) in
        let stored = try storage.loadImage(options.limits, as: ready.take())
        return try VaultState(
          stored.image, version: stored.version, storage: storage, options: options, sealer: sealer, unlock: unlock)
      }
    }
  }

  /// Another process may be copying over the file, or two appends happened while it was read. So a file is read three
  /// times, 50 ms apart, before it is reported as damaged (section 4, step 2; 4.1).
  static func retryingDamage<R>(_ options: Vault.Options, _ load: () throws(VaultError) -> R) throws(VaultError) -> R {
    var attempts = 0
    var tail = 0
    while true {
      do throws(VaultError) { return try load() } catch {
        guard error.code == .damaged else { throw error }
        // The journal grew while it was read: a write is in progress, so the count restarts.
        if let reached = (error.cause as? BrokenEntry)?.offset, reached > tail {
          tail = reached
          attempts = 0
        }
        guard attempts < 2 else { throw error }
        attempts += 1
        pause(options)
      }
    }
  }

  private static func pause(_ options: Vault.Options) {
    usleep(UInt32(options.pauseBeforeRereading / .microseconds(1)))
  }

  private static func openManifest(
    _ snapshot: Snapshot, _ image: FileImage, _ vaultKey: SealingKey, _ sealer: Sealer
  ) throws(VaultError) -> Manifest {
    let (header, slots) = (snapshot.boundHeader, snapshot.slotBytes)
    let manifest = try sealer.withSecretBody(
      image[snapshot.manifest], step: Manifest.step, with: vaultKey,
      as: .manifest(header: header.bytes, slots: slots.bytes)
    ) { (body) throws(VaultError) in try Manifest(body, of: snapshot) }
    guard let manifest else { throw .tampered("the manifest, the header or a slot does not verify") }
    return manifest
  }

  // MARK: Groups

  /// The granted group of that id.
  func group(_ id: Vault.Identifier) -> LoadedGroup? { position(of: id).map { groups[$0] } }

  /// The position of the granted group of that id. Groups are ordered by id, as their sections are.
  private func position(of id: Vault.Identifier) -> Int? {
    var range = 0..<groups.count
    while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
      if groups[middle].id == id { return middle }
      range = groups[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  func content(_ id: Vault.Identifier) throws(VaultError) -> GroupContent {
    guard let position = position(of: id) else {
      throw VaultError(.groupNotGranted, "the access group is gone, or was never granted to this credential")
    }
    return try groups[position].content(snapshot, sealer, options.limits)
  }

  /// The record of that name with what opens its value; `nil` if there is none.
  func find(
    _ name: borrowing RecordName, in group: Vault.Identifier
  ) throws(VaultError) -> (record: Record, cipher: ValueCipher)? {
    let content = try content(group)
    guard let record = content.find(name) else { return nil }
    return (record, try content.cipher(record.accessibility, sealer))
  }

  /// The group of that name, if the credential grants it.
  func group(named name: Vault.Name) throws(VaultError) -> AccessGroup {
    // A group that does not verify hides no other one.
    var refusal: VaultError?
    for spelling in name.spellings {
      if let found = manifest?.groups.first(where: { $0.name.utf8 == spelling }) {
        return AccessGroup(id: found.id, name: found.name)
      }
      guard manifest == nil else { continue }
      for held in groups {
        do throws(VaultError) {
          let name = try content(held.id).name
          if name.utf8 == spelling { return AccessGroup(id: held.id, name: name) }
        } catch { refusal = refusal ?? error }
      }
    }
    throw refusal ?? VaultError(.groupNotGranted, "this credential grants no access group of that name")
  }

  // MARK: Staying current

  enum Freshness {
    case current
    /// With the new version if the storage had it at hand.
    case replaced(StoredVault?)
  }

  /// Applies the entries that were appended since. For a file, makes two system calls if there are none (4.2).
  ///
  /// - Returns: `.replaced` if the vault must be loaded again, because it was replaced or the bytes before the tail
  ///   have changed.
  /// - Throws: ``VaultError/Code/notFound`` if the vault was deleted.
  func refresh() throws(VaultError) -> Freshness {
    guard let position else { return .replaced(nil) }
    switch try storage.changes(since: position, limit: options.limits.fileBytes) {
    case .none: return .current
    case .replaced(let stored): return .replaced(stored)
    case .removed: throw storage.error(.notFound, "the vault was deleted")
    case .added(let bytes): return try catchUp(with: bytes)
    }
  }

  /// The end of what this state knows; `nil` if its bytes are not stored.
  var position: StoragePosition? {
    version.map { StoragePosition(version: $0, offset: tail, tag: lastBytes) }
  }

  /// Applies what a reader has found. Without the lock, it reads again before it reports a damaged journal (4.1).
  private func catchUp(with found: StoredBytes) throws(VaultError) -> Freshness {
    var bytes = found
    var attempts = 0
    while true {
      let tail = tail
      if try apply(bytes) { return .current }
      if self.tail > tail { attempts = 0 }
      guard attempts < 2 else { throw Self.damagedJournal(tail: self.tail) }
      attempts += 1
      Self.pause(options)
      guard let position else { return .replaced(nil) }
      switch try storage.changes(since: position, limit: options.limits.fileBytes) {
      case .none: return .current
      case .replaced(let stored): return .replaced(stored)
      case .removed: throw storage.error(.notFound, "the vault was deleted")
      case .added(let more): bytes = more
      }
    }
  }

  /// Applies what others have appended, as the only writer.
  func catchUp(_ locked: any LockedStorage) throws(VaultError) -> Freshness {
    guard let position else { return .replaced(nil) }
    switch try locked.changes(since: position, limit: options.limits.fileBytes) {
    case .none:
      tornTail = nil
      return .current
    case .replaced(let stored): return .replaced(stored)
    case .removed: throw storage.error(.notFound, "the vault was deleted")
    case .added(let bytes):
      guard try apply(bytes) else { throw Self.damagedJournal(tail: tail) }
      return .current
    }
  }

  /// Applies the bytes behind the tail. Returns `false` if an acknowledged entry is damaged.
  private func apply(_ bytes: StoredBytes) throws(VaultError) -> Bool {
    let image = bytes.image
    guard image.count - bytes.start <= options.limits.fileBytes - tail else {
      throw storage.error(.limitExceeded, "the vault is longer than \(options.limits.fileBytes) bytes")
    }
    let frame = try JournalFrame(image.span, from: bytes.start, groups: groupIDs)
    if !frame.entries.isEmpty {
      take(frame, from: image)
      tail += frame.tail - bytes.start
      lastBytes = Vault.Tag(image.span, at: frame.tail - Vault.Tag.count)
    }
    tornTail = frame.tornTail
    return !frame.isDamaged
  }

  private func take(_ frame: JournalFrame, from image: FileImage) {
    for entry in frame.entries {
      let check = Vault.Tag(image.span, at: entry.range.upperBound - Vault.Tag.count)
      let sealed = LoadedGroup.SealedEntry(image: image, range: entry.sealed)
      // In two calls, because a copy of the changes would be copied whole by the next name.
      if check == ownEntry {
        var notRecorded: ChangesOfOthers?
        group(entry.group)?.append(sealed, snapshot, sealer, recordedIn: &notRecorded)
      } else {
        group(entry.group)?.append(sealed, snapshot, sealer, recordedIn: &changes)
      }
    }
    entryCount += frame.entries.count
    tornTail = frame.tornTail
  }

  /// What others have changed since the last call.
  func takeChanges() -> ChangesOfOthers {
    defer { if changes != nil { changes = ChangesOfOthers() } }
    return changes ?? .anything
  }

  /// Applies an entry that this handle wrote and checked, unless a reader has already found it in the file.
  func append(_ staged: GroupContent.Staged, to content: GroupContent, at offset: Int, count: Int, check: Vault.Tag) {
    guard tail == offset else { return }
    content.apply(staged)
    tail += count
    lastBytes = check
    entryCount += 1
    tornTail = nil
  }

  /// The length of all entries without the reserve, in bytes.
  var journalBytes: Int { tail - snapshot.count }
}
