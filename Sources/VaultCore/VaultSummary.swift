internal import Glibc
public import VaultSealing

/// What anybody who can read the file can tell without a credential: everything that is not sealed.
///
/// Checks the snapshot's checksum and structure, the frame of the journal and the rules of all slots
/// (`Docs/Format.md` section 4, steps 1 to 5). It does not tell whether anything was forged: only a key does.
public struct VaultSummary: Sendable {
  /// One stored way to unlock.
  public struct Slot: Sendable {
    /// How the slot is opened; kinds of later versions are `unknown`.
    public enum Kind: Sendable, Hashable {
      /// A passphrase with that cost.
      case passphrase(PassphraseCost)
      /// A raw 32-byte key.
      case rawKey
      /// A kind of a later version, with its number.
      case unknown(UInt8)
    }

    /// Names the slot; random, and the same for as long as the slot is.
    public let id: Vault.Identifier
    /// How the slot is opened.
    public let kind: Kind
    /// Whether the slot grants the whole vault, or one group.
    public let isOwner: Bool
  }

  /// Names the vault; random, and the same for its life.
  public let vaultID: Vault.Identifier
  /// How many owner full writes there were.
  public let generation: UInt64
  /// In the file's order.
  public let slots: [Slot]
  /// The number of access groups; their names are sealed.
  public let groupCount: Int
  /// The number of whole journal entries.
  public let entryCount: Int
  /// Whether a broken entry ends the journal: a write that did not finish, or one that was acknowledged and damaged since.
  /// Which of the two it is cannot be known (`Docs/Format.md` 10.3). What it changed is not among what is read.
  public let hasTornTail: Bool
  /// The file's length, in bytes.
  public let fileBytes: Int
  /// The snapshot's, with its checksum.
  public let snapshotBytes: Int
  /// That of all whole entries; what is left is reserve.
  public let journalBytes: Int

  /// Reads the vault at `path` without a credential.
  /// - Throws: ``VaultError`` with the class of the first deviation.
  public init(at path: String, options: Vault.Options = Vault.Options()) throws(VaultError) {
    let path = try VaultPath(path, policy: options.pathPolicy)
    self = try VaultState.retryingDamage { () throws(VaultError) in
      let (descriptor, status) = try path.open(limits: options.limits)
      return try VaultSummary(
        try FileImage(descriptor, 0..<Int(status.st_size), limit: options.limits.fileBytes))
    }
  }

  private init(_ image: FileImage) throws(VaultError) {
    let snapshot = try Snapshot(image)
    let frame = try JournalFrame(image.span, from: snapshot.count, groups: Set(snapshot.sections.map(\.id)))
    if frame.isDamaged { throw VaultState.damagedJournal(tail: frame.tail) }
    try VaultCore.Slot.check(snapshot.slots)
    vaultID = snapshot.vaultID
    generation = snapshot.generation
    slots = snapshot.slots.map { Slot(id: $0.id, kind: Slot.Kind($0), isOwner: $0.scope == .owner) }
    groupCount = snapshot.sections.count
    entryCount = frame.entries.count
    hasTornTail = frame.isTorn
    fileBytes = image.count
    snapshotBytes = snapshot.count
    journalBytes = frame.tail - snapshot.count
  }
}

extension VaultSummary.Slot.Kind {
  init(_ slot: Slot) {
    switch slot.kind {
    case Slot.passphraseKind: self = .passphrase(slot.cost)
    case Slot.rawKeyKind: self = .rawKey
    default: self = .unknown(slot.kind)
    }
  }
}
