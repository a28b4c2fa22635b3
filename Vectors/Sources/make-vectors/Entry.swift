/// A journal entry as it is to be written (3.7).
struct Entry {
  enum Change {
    case put(Record)
    case remove(service: Bytes, key: Bytes)
    /// Bytes in place of a change.
    case other(Bytes)

    static func remove(_ service: String, _ key: String) -> Change {
      .remove(service: Bytes(service), key: Bytes(key))
    }
  }

  /// Which of the draft's groups.
  var group: Int
  /// One more than the group's, if not given.
  var generation: UInt64?
  var changes: [Change]
  /// What n_changes says, if not the truth.
  var count: UInt32?
  /// What stands behind the end of the body, which is nothing.
  var rest: Bytes = []
  /// Changes the finished body, before it is padded.
  var body: ((inout Bytes) -> Void)?
  var twist = Twist()

  // The head, where it says something else.
  var headID: Bytes?
  var headZero: UInt32 = 0
  var headCount: UInt32?
  /// Changes the entry before its check is made.
  var checked: ((inout Bytes) -> Void)?
  /// Changes the finished entry, check and all.
  var finished: ((inout Bytes) -> Void)?
  /// Whether a reader takes no notice of it: a torn write.
  var isTorn = false

  init(_ group: Int, _ changes: Change...) { (self.group, self.changes) = (group, changes) }

  /// What a group is when the entry is written.
  struct Place {
    let generation: UInt64
    let manifestTag: Bytes
    let previousTag: Bytes
  }

  func bytes(_ draft: Draft, at place: Place, _ random: inout RandomStream) -> (entry: Bytes, tag: Bytes) {
    let group = draft.groups[group]
    let generation = generation ?? place.generation + 1
    var plain = Bytes.integer(generation) + .integer(count ?? UInt32(changes.count))
    for change in changes {
      switch change {
      case .put(let record): plain += [1] + group.bytes(record, revision: generation, draft, &random)
      case .remove(let service, let key): plain += [2] + .lp16(service) + .lp16(key)
      case .other(let bytes): plain += bytes
      }
    }
    plain += rest
    body?(&plain)
    let sealed = twist.sealBody(
      plain, step: 256, key: group.key(vaultKey: draft.vaultKey),
      context: [
        Bytes("entry"), draft.vaultID, group.id, .integer(group.epoch), place.manifestTag, place.previousTag,
      ], random: random.draw(24))
    var entry = Bytes.integer(headCount ?? UInt32(sealed.count + 56)) + .integer(headZero) + (headID ?? group.id)
    entry += sealed
    checked?(&entry)
    entry += Sealing.hash(32, entry)
    finished?(&entry)
    return (entry, sealed.tag)
  }
}
