/// An access group as it is to be written: its section (3.3, 3.6), and its line in the manifest (3.5).
struct Group {
  var id: Bytes
  var epoch: UInt32 = 1
  var name: Bytes
  /// As the owner wrote it: the manifest's floor.
  var section = Section()
  /// What a holder put in its place afterwards.
  var fold: Section?

  // The section's head, where it says something else.
  var headID: Bytes?
  var headEpoch: UInt32?
  var headZero: UInt32 = 0
  var headCount: UInt64?

  // The manifest's line, where it says something else.
  var listedID: Bytes?
  var listedEpoch: UInt32?
  var listedName: Bytes?
  var floorGeneration: UInt64?
  var floorTag: Bytes?

  /// The section that stands in the file.
  var current: Section { fold ?? section }

  /// GK = D(32, VK, "group-key", group id, epoch).
  func key(vaultKey: Bytes) -> Bytes { Sealing.derive(32, vaultKey, "group-key", id, .integer(epoch)) }

  func listed(floorTag tag: Bytes) -> Bytes {
    (listedID ?? id) + .integer(listedEpoch ?? epoch) + .integer(floorGeneration ?? section.generation)
      + (floorTag ?? tag) + .lp16(listedName ?? name)
  }

  func head(count: Int) -> Bytes {
    (headID ?? id) + .integer(headEpoch ?? epoch) + .integer(headZero) + .integer(headCount ?? UInt64(count))
  }
}

/// A section's body and seal.
struct Section {
  var generation: UInt64 = 1
  /// The vault generation, if not given.
  var baseGeneration: UInt64?
  /// Zero for an owner's section and the manifest's tag for a holder's, if not given.
  var baseTag: Bytes?
  /// The group's, if not given.
  var name: Bytes?
  var records: [Record] = []
  /// What n_records says, if not the truth.
  var count: UInt32?
  var extensionField: Bytes = []
  /// What stands behind the end of the body, which is nothing.
  var rest: Bytes = []
  /// Changes the finished body, before it is padded.
  var body: ((inout Bytes) -> Void)?
  var twist = Twist()

  func sealed(_ group: Group, baseTag tag: Bytes, _ draft: Draft, _ random: inout RandomStream) -> Bytes {
    var out = Bytes.integer(generation) + .integer(baseGeneration ?? draft.generation) + (baseTag ?? tag)
    out += .lp16(name ?? group.name) + .integer(count ?? UInt32(records.count))
    for record in records { out += group.bytes(record, revision: generation, draft, &random) }
    out += .lp32(extensionField) + rest
    body?(&out)
    return twist.sealBody(
      out, step: 1024, key: group.key(vaultKey: draft.vaultKey),
      context: [Bytes("section"), draft.vaultID, group.id, .integer(group.epoch)], random: random.draw(24))
  }
}
