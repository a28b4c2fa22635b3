internal import DurableFiles
public import VaultSealing

/// The parts of a vault file that can be read without a credential: everything that is not sealed.
///
/// The initialiser checks the snapshot's checksum and structure, the frame of the journal and the rules of all slots
/// (`Docs/Format.md` section 4, steps 1 to 5). Nothing here is authenticated: that needs a key.
public struct VaultInfo: Sendable {
  /// Reads the id of the vault at `path` from the header, whatever the state of the rest. `nil` if the file cannot be
  /// read or does not begin like a vault.
  package static func identifier(at path: String) -> Vault.Identifier? {
    do throws(VaultError) {
      let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) { .io("\(path): open", $0) }
      guard try file.status().st_mode & S_IFMT == S_IFREG else { return nil }
      return identifier(in: try FileImage(file, 0..<Snapshot.headerCount, limit: Snapshot.headerCount))
    } catch { return nil }
  }

  /// Reads the id of the vault in a storage from the header, whatever the state of the rest. `nil` if it cannot be
  /// read or does not begin like a vault.
  package static func identifier(in storage: any VaultStorage) -> Vault.Identifier? {
    do throws(VaultError) { return identifier(in: try storage.loadImage(.format).image) } catch { return nil }
  }

  static func identifier(in image: FileImage) -> Vault.Identifier? {
    image.count >= Snapshot.headerCount && image.span.starts(with: Snapshot.magic)
      ? Vault.Identifier(image.span, at: 16) : nil
  }

  /// One slot: a stored way to unlock the vault or a group.
  public struct Slot: Sendable {
    /// How a slot is opened.
    public enum Kind: Sendable, Hashable {
      /// A passphrase, with the cost of its derivation.
      case passphrase(PassphraseCost)
      /// A raw 32-byte key.
      case rawKey
      /// A kind of a later version of the format, with its number.
      case unknown(UInt8)
    }

    /// The id of the slot, random and constant.
    public let id: Vault.Identifier
    /// How the slot is opened.
    public let kind: Kind
    /// Whether the slot grants the whole vault. Other slots grant one group.
    public let isOwner: Bool
  }

  /// The id of the vault, random and constant.
  public let vaultID: Vault.Identifier
  /// The number of full writes by owners.
  public let generation: UInt64
  /// The slots in the order of the file.
  public let slots: [Slot]
  /// The number of access groups. Their names are sealed.
  public let groupCount: Int
  /// The number of whole journal entries.
  public let entryCount: Int
  /// The broken end of the journal, whose changes reads do not see: an interrupted write, or acknowledged entries that
  /// were damaged later. `nil` if the journal ends with a whole entry.
  public let tornTail: Vault.TornTail?
  /// Whether the journal ends with a broken entry: see ``tornTail``.
  public var hasTornTail: Bool { tornTail != nil }
  /// The length of the file, in bytes.
  public let fileBytes: Int
  /// The length of the snapshot with its checksum, in bytes.
  public let snapshotBytes: Int
  /// The length of all whole entries, in bytes. The rest of the file is reserve.
  public let journalBytes: Int

  /// Reads the vault at `path` without a credential.
  /// - Throws: ``VaultError/Code/notFound``, ``VaultError/Code/insecurePermissions``, or the code of the first fault in
  ///   the file.
  public init(at path: String, options: Vault.Options = Vault.Options()) throws(VaultError) {
    try self.init(in: FileStorage(path, options: options), options: options)
  }

  /// Reads the vault in a storage without a credential.
  /// - Throws: the errors of the storage, or the code of the first fault in the vault.
  public init(in storage: any VaultStorage, options: Vault.Options = Vault.Options()) throws(VaultError) {
    self = try VaultState.retryingDamage(options) { () throws(VaultError) in
      try VaultInfo(try storage.loadImage(options.limits).image)
    }
  }

  init(_ image: FileImage) throws(VaultError) {
    let snapshot = try Snapshot(image)
    let frame = try JournalFrame(image.span, from: snapshot.count, groups: Set(snapshot.sections.map(\.id)))
    if frame.isDamaged { throw VaultState.damagedJournal(tail: frame.tail) }
    try snapshot.slots.check()
    vaultID = snapshot.vaultID
    generation = snapshot.generation
    slots = snapshot.slots.map { Slot(id: $0.id, kind: Slot.Kind($0), isOwner: $0.scope == .owner) }
    groupCount = snapshot.sections.count
    entryCount = frame.entries.count
    tornTail = frame.tornTail
    fileBytes = image.count
    snapshotBytes = snapshot.count
    journalBytes = frame.tail - snapshot.count
  }
}

extension VaultInfo.Slot.Kind {
  init(_ slot: StoredSlot) {
    switch slot.kind {
    case StoredSlot.passphraseKind: self = .passphrase(slot.cost)
    case StoredSlot.rawKeyKind: self = .rawKey
    default: self = .unknown(slot.kind)
    }
  }
}
