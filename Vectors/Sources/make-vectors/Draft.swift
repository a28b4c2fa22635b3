/// A vault to be forged: right as its parts stand, wrong where a vector changes one.
struct Draft {
  /// All times, unless a vector is about them: milliseconds since 1970.
  static let time: Int64 = 1_700_000_000_000

  var random: RandomStream

  // The header.
  var version: UInt16 = 1
  var flags: UInt16 = 0
  var vaultID: Bytes
  var generation: UInt64 = 1
  /// What n_slots, n_groups and manifest_len say, if not the truth.
  var slotCount: UInt16?
  var groupCount: UInt16?
  var manifestCount: UInt64?

  var vaultKey: Bytes
  var slots: [Slot] = []
  var groups: [Group] = []
  var manifest = Manifest()
  var entries: [Entry] = []
  /// What stands behind the entries.
  var reserve: Bytes = []
  /// Changes the finished file.
  var finished: ((inout Bytes) -> Void)?

  /// Whether `reserve` holds something that a reader takes for a torn write.
  var hasTornReserve = false
  /// Who tries to open the file.
  var attempts: [Attempt] = []

  /// The manifest's body and seal (3.5).
  struct Manifest {
    /// Changes the lines of groups and slots before they are counted.
    var lines: ((_ groups: inout [Bytes], _ slots: inout [Bytes]) -> Void)?
    /// What the counts say, if not the truth.
    var groupCount: UInt16?
    var slotCount: UInt16?
    var extensionField: Bytes = []
    /// What stands behind the end of the body, which is nothing.
    var rest: Bytes = []
    /// Changes the finished body, before it is padded.
    var body: ((inout Bytes) -> Void)?
    var twist = Twist()
  }

  init(seed: String) {
    random = RandomStream(seed: seed)
    vaultID = random.draw(16)
    vaultKey = random.draw(32)
  }

  @discardableResult
  mutating func addSlot(_ credential: Credential?, kind: UInt8? = nil, label: String = "slot") -> Int {
    var isPassphrase = kind == 1
    if case .passphrase = credential { isPassphrase = true }
    let id = random.draw(16)
    let salt = isPassphrase ? random.draw(16) : .zeros(16)
    var slot = Slot(
      kind: kind ?? (isPassphrase ? 1 : 2), id: id, salt: salt, credential: credential, random: random.draw(24))
    slot.label = Bytes(label)
    if isPassphrase { (slot.passes, slot.memory) = (1, 8192) }
    slots.append(slot)
    return slots.count - 1
  }

  /// Adds a slot that grants a group's key.
  @discardableResult
  mutating func addHolder(_ credential: Credential?, of group: Int, label: String = "holder") -> Int {
    let index = addSlot(credential, label: label)
    (slots[index].scope, slots[index].epoch, slots[index].groupID) = (1, groups[group].epoch, groups[group].id)
    return index
  }

  /// Adds groups of these names; the file orders them by id, so they get theirs in ascending order.
  mutating func addGroups(_ names: String...) {
    let ids = names.map { _ in random.draw(16) }.sorted { $0.lexicographicallyPrecedes($1) }
    groups += zip(names, ids).map { Group(id: $1, name: Bytes($0)) }
  }

  mutating func append(_ group: Int, _ changes: Entry.Change...) {
    var entry = Entry(group)
    entry.changes = changes
    entries.append(entry)
  }
}
