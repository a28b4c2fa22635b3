/// Journal entries (3.7), sealed by somebody who holds the group's key, and their chain.
enum EntryVectors {
  static var all: [Vector] {
    accepted + seals + paddings + bodies + changes + chains
  }

  // MARK: Accepted

  private static var accepted: [Vector] {
    [
      Vector("entries", "put, replace, remove, put again, several changes in one entry", .opens, from: Draft.journal) {
        $0.append(0, .put(Record("app", "key 1", "replaced")))
        $0.append(0, .remove("app", "key 2"), .put(Record("db", "password", "changed")), .remove("db", "user"))
        $0.append(0, .put(Record("app", "key 2", "back")))
        $0.entries.insert(Entry(0, .put(Record("db", "user", "app"))), at: 0)
      },
      Vector("entries-all-removed", "the last record removed", .opens) { $0.append(0, .remove("db", "password")) },
      Vector("entries-interleaved", "two groups taking turns, each with its own chain", .opens, from: Draft.house) {
        for number in 1...3 {
          $0.append(1, .put(Record("a", "\(number)")))
          $0.append(0, .put(Record("a", "\(number)")))
        }
      },
      Vector(
        "entries-interleaved-otherwise", "the same entries, first of one group, then of the other", .opens,
        from: Draft.house
      ) {
        for number in 1...3 {
          $0.append(1, .put(Record("a", "\(number)")))
          $0.append(0, .put(Record("a", "\(number)")))
        }
        let draft = $0
        reorder(&$0) { entries in
          zip(draft.entries, entries).filter { $0.0.group == 1 }.map(\.1)
            + zip(draft.entries, entries).filter { $0.0.group == 0 }.map(\.1)
        }
      },
      Vector("entries-epoch", "entries of epoch 4", .opens, from: Draft.house) {
        $0.groups[1].epoch = 4
        $0.slots[1].epoch = 4
        $0.append(1, .remove("git", "token"))
      },
      Vector("entries-record", "an entry whose record has every field and class 1", .opens) {
        var record = Record("db", "other", "")
        (record.kind, record.class, record.value) = (2, 1, [0, 0xFF])
        (record.created, record.modified, record.items) = (1, -1, [(1, Bytes("label")), (300, [])])
        $0.append(0, .put(record))
      },
      Vector("entries-last-generation", "an entry that reaches the generation 2^63 - 1", .opens) {
        $0.groups[0].section.generation = 1 << 63 - 2
        $0.append(0, .remove("db", "password"))
      },
    ]
  }

  // MARK: Seals and paddings

  private static var seals: [Vector] {
    [
      seal("tag", "a bit of the tag flipped, the check right") { $0.sealed = { $0.flip(at: 24) } },
      seal("poly1305", "a box whose Poly1305 is wrong under a right tag") { $0.box = { $0.flip(at: 0) } },
      seal("vault", "sealed for another vault") { $0.context = { $0[1].flip(at: 0) } },
      seal("group", "sealed for another group") { $0.context = { $0[2].flip(at: 0) } },
      seal("epoch", "sealed for another epoch") { $0.context = { $0[3] = .integer(UInt32(2)) } },
      seal("manifest", "sealed behind another manifest") { $0.context = { $0[4].flip(at: 0) } },
      seal("previous", "sealed behind another entry") { $0.context = { $0[5].flip(at: 0) } },
    ]
  }

  private static func seal(_ name: String, _ about: String, _ change: @escaping (inout Twist) -> Void) -> Vector {
    Vector("entry-seal-" + name, "an entry: " + about, .sealed(.tampered), from: Draft.journal) {
      change(&$0.entries[1].twist)
    }
  }

  private static var paddings: [Vector] {
    [
      last("padding-no-mark", "zeros without the mark before them", .malformed) {
        $0.twist.padded = Pad.withoutMark(step: 256)
      },
      last("padding-longer", "padding of one step more than needed", .malformed) {
        $0.twist.padded = Pad.longer(step: 256)
      },
    ]
  }

  // MARK: Bodies

  private static var bodies: [Vector] {
    [
      last("generation-ahead", "a generation left out", .malformed) { $0.generation = 5 },
      last("generation-zero", "generation 0", .limitExceeded) { $0.generation = 0 },
      last("generation-2-63", "generation 2^63", .limitExceeded) { $0.generation = 1 << 63 },
      Vector("entry-generation-used-up", "an entry behind the generation 2^63 - 1", .sealed(.limitExceeded)) {
        $0.groups[0].section.generation = 1 << 63 - 1
        $0.append(0, .remove("db", "password"))
      },
      last("empty", "no changes", .malformed) { $0.changes = [] },
      last("changes-many", "more changes than bytes", .malformed) { $0.count = 1000 },
      last("body-longer", "a byte behind the end", .malformed) { $0.rest = [0] },
      last("body-cut-generation", "a body that ends in the generation", .malformed) { $0.body = { $0 = .zeros(7) } },
    ]
  }

  /// The last of three entries.
  private static func last(
    _ name: String, _ about: String, _ refusal: Refusal, _ change: @escaping (inout Entry) -> Void
  ) -> Vector {
    Vector("entry-" + name, "an entry: " + about, .sealed(refusal), from: Draft.journal) { change(&$0.entries[2]) }
  }

  // MARK: Changes

  private static var changes: [Vector] {
    [
      change("unknown-3", "a change of kind 3, before one that is right", .other([3]), .put(Record("app", "put"))),
      change("remove-absent", "a removal of a record that is not there", .remove("app", "absent")),
      Vector(
        "entry-remove-twice", "an entry: a record removed that the entry before removed", .sealed(.malformed),
        from: Draft.journal
      ) {
        $0.append(0, .remove("app", "key 1"))
        $0.append(0, .remove("app", "key 1"))
      },
      change("order-removals", "removals in falling order", .remove("app", "key 2"), .remove("app", "key 1")),
      put("revision-below", "a put of an older revision", .malformed) { $0.revision = 4 },
      put("kind-zero", "a put of kind 0", .malformed) { $0.kind = 0 },
      put("name-empty", "a put without a key", .invalidName) { $0.key = [] },
      Vector(
        "entry-remove-name", "an entry: a removal with a name that is none", .sealed(.invalidName), from: Draft.journal
      ) {
        $0.append(0, .remove(service: Bytes("app"), key: [0xFF]))
      },
    ]
  }

  private static func change(_ name: String, _ about: String, _ changes: Entry.Change...) -> Vector {
    Vector("entry-" + name, "an entry: " + about, .sealed(.malformed), from: Draft.journal) {
      var entry = Entry(0)
      entry.changes = changes
      $0.entries.append(entry)
    }
  }

  private static func put(
    _ name: String, _ about: String, _ refusal: Refusal, _ change: @escaping (inout Record) -> Void
  ) -> Vector {
    Vector("entry-" + name, "an entry: " + about, .sealed(refusal), from: Draft.journal) {
      var record = Record("app", "put")
      change(&record)
      $0.append(0, .put(record))
    }
  }

  // MARK: Chains

  private static var chains: [Vector] {
    [
      Vector("chain-exchanged", "two entries of one group exchanged", .sealed(.tampered), from: Draft.journal) {
        reorder(&$0) { [$0[1], $0[0], $0[2]] }
      },
      Vector("chain-twice", "an entry twice", .sealed(.tampered), from: Draft.journal) {
        var draft = $0
        draft.append(0, .remove("app", "key 1"))
        reorder(&$0) { [$0[0], $0[1], $0[2], $0[2]] }
        // What a reader without key counts.
        $0.append(0, .remove("app", "key 1"))
      },
      Vector("chain-middle-missing", "an entry left out", .sealed(.tampered), from: Draft.journal) {
        let entries = $0.forged().entries
        $0.entries.removeLast()
        place([entries[0], entries[2]], in: &$0)
      },
      Vector("chain-group", "an entry moved to another group", .sealed(.tampered), from: Draft.house) {
        $0.append(0, .put(Record("a", "1")))
        $0.entries[2].headID = $0.groups[1].id
      },
      Vector(
        "chain-other-group", "an entry forged where one holder cannot see it", .owner(.tampered), from: Draft.house
      ) {
        $0.entries[0].twist.sealed = { $0.flip(at: 90) }
      },
      Vector(
        "chain-other-vault", "an entry of another vault with its group id changed", .sealed(.tampered),
        from: Draft.journal
      ) {
        var other = Draft.journal(seed: "another")
        other.entries[0].headID = $0.groups[0].id
        let entry = other.forged().entries[0]
        $0.entries.removeLast(2)
        place([entry], in: &$0)
      },
      Vector("chain-other-vault-as-is", "an entry of another vault as it is", .refused(.malformed), from: Draft.journal)
      {
        let entry = Draft.journal(seed: "another").forged().entries[0]
        place([entry], in: &$0)
      },
      Vector(
        "chain-rewritten", "an entry of before an owner write behind the group's new section", .sealed(.tampered),
        from: Draft.rewritten
      ) {
        let entries = Draft.house(seed: "SPV1 chain-rewritten").forged().entries
        $0.append(1, .remove("git", "user"))
        place([entries[1]], in: &$0)
      },
      Vector(
        "chain-section-kept", "an entry of before an owner write behind a section that the write left alone",
        .sealed(.tampered), from: Draft.rewritten
      ) {
        let old = Draft.house(seed: "SPV1 chain-section-kept")
        let forged = old.forged()
        $0.groups[1].section = old.groups[1].section
        $0.groups[1].section.twist.sealed = { $0 = forged.sections[1] }
        $0.append(1, .remove("git", "user"))
        place([forged.entries[1]], in: &$0)
      },
      Vector(
        "chain-rotated", "an entry of before a rotation behind the group's new section", .sealed(.tampered),
        from: Draft.rewritten
      ) {
        let entries = Draft.house(seed: "SPV1 chain-rotated").forged().entries
        ($0.groups[1].epoch, $0.slots[1].epoch) = (2, 2)
        $0.append(1, .remove("git", "user"))
        place([entries[1]], in: &$0)
      },
      Vector("chain-folded", "an entry of before a fold behind the fold", .sealed(.tampered), from: Draft.house) {
        let entries = $0.forged().entries
        var fold = $0.groups[1].section
        fold.generation = 3
        $0.groups[1].fold = fold
        place(entries, in: &$0)
      },
    ]
  }

  /// Writes the same entries in another order.
  private static func reorder(_ draft: inout Draft, _ order: ([Bytes]) -> [Bytes]) {
    place(order(draft.forged().entries), in: &draft)
  }

  /// Writes these entries in place of the draft's own, which must be as many for a reader without key to count.
  private static func place(_ entries: [Bytes], in draft: inout Draft) {
    let start = draft.forged().snapshotCount
    draft.finished = { $0 = $0[..<start] + Bytes(entries.joined()) }
  }
}
