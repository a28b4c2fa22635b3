/// Slots: their rules (3.2), their seals, and which one opens (section 4, steps 5 and 6).
enum SlotVectors {
  static var all: [Vector] {
    rules + seals + replayed + searches
  }

  private static var rules: [Vector] {
    [
      rule("byte-2", "byte 2 of a slot is not zero") { $0.slots[0].zero = [1, 0] },
      rule("byte-3", "byte 3 of a slot is not zero") { $0.slots[0].zero = [0, 1] },
      rule("unknown-byte-2", "byte 2 of a slot of an unknown kind is not zero") {
        let index = $0.addSlot(.stranger, kind: 3)
        $0.slots[index].zero = [128, 0]
      },
      rule("id-twice", "two slots of one id") {
        let index = $0.addSlot(.stranger)
        $0.slots[index].id = $0.slots[0].id
      },
      rule("scope-2", "scope 2") { $0.slots[0].scope = 2 },
      rule("owner-epoch", "an owner slot with an epoch") { $0.slots[0].epoch = 1 },
      rule("owner-group", "an owner slot with a group id") { $0.slots[0].groupID = $0.groups[0].id },
      rule("holder-epoch-zero", "a group slot of epoch 0", from: Draft.house) { $0.slots[1].epoch = 0 },
      rule("holder-epoch-2-31", "a group slot of epoch 2^31", from: Draft.house) { $0.slots[1].epoch = 1 << 31 },
      rule("holder-group-zero", "a group slot without a group id", from: Draft.house) {
        $0.slots[1].groupID = .zeros(16)
      },
      rule("key-passes", "a slot for a raw key with passes") { $0.slots[0].passes = 1 },
      rule("key-salt-last", "a slot for a raw key with a salt, last byte") { $0.slots[0].salt[15] = 1 },
      Vector("slots-none", "no slot at all: nothing opens it", .sealed(.credentialRejected)) { $0.slots = [] },
    ]
  }

  private static func rule(
    _ name: String, _ about: String, from base: @escaping (String) -> Draft = Draft.small,
    _ change: @escaping (inout Draft) -> Void
  ) -> Vector {
    Vector("slot-" + name, about, .refused(.malformed), from: base, change)
  }

  private static var seals: [Vector] {
    [
      seal("poly1305", "a box whose Poly1305 is wrong under a right tag") {
        $0.slots[0].twist.box = { $0.flip(at: 0) }
      },
      seal("header", "sealed with another header") { $0.slots[0].twist.context = { $0[2].flip(at: 63) } },
      Vector("slot-grants-other-vault-key", "an owner slot that grants a key of another vault", .owner(.tampered)) {
        $0.slots[0].granted = .run(from: 9)
      },
      Vector(
        "slot-grants-other-group-key", "a group slot that grants another key than the group's",
        .each(["holder": .tampered]), from: Draft.house
      ) { $0.slots[1].granted = .run(from: 9) },
    ]
  }

  /// A second owner slot opens, so the fault is in the first alone.
  private static func seal(_ name: String, _ about: String, _ change: @escaping (inout Draft) -> Void) -> Vector {
    Vector("slot-seal-" + name, "a slot: " + about, .each(["owner": .credentialRejected])) {
      $0.addSlot(.stranger)
      $0.attempts.append(Attempt(name: "second", credential: .stranger, view: .owner))
      change(&$0)
    }
  }

  private static var replayed: [Vector] {
    [
      Vector("slot-order", "two slots exchanged, the manifest as it was", .owner(.tampered), from: Draft.house) {
        let slots = $0.forged().slots
        $0.finished = { file in
          file.store(slots[1] + slots[0], at: Draft.Offset.slots)
          file.mendChecksum()
        }
      },
      Vector(
        "slot-removed", "the holder's slot cut out, the manifest as it was",
        .each(["owner": .tampered, "holder": .credentialRejected]), from: Draft.house
      ) {
        let start = Draft.Offset.slots + Draft.Offset.slotCount
        $0.finished = { file in
          file.store(UInt16(1), at: 12)
          file.replaceInSnapshot(start..<start + Draft.Offset.slotCount, with: [])
        }
      },
      Vector(
        "slot-added", "a slot put in by somebody who knows a credential of the vault but not the vault key",
        .each(["owner": .tampered, "stranger": .tampered])
      ) {
        $0.attempts.append(.stranger)
        var draft = $0
        draft.addSlot(.stranger)
        draft.slots[1].granted = .run(from: 9)
        let slot = draft.forged().slots[1]
        $0.finished = { file in
          file.store(UInt16(2), at: 12)
          let end = Draft.Offset.slots + Draft.Offset.slotCount
          file.replaceInSnapshot(end..<end, with: slot)
        }
      },
      Vector(
        "slot-revoked-holder", "the holder's slot of before a rotation put back",
        .each(["owner": .tampered, "holder": .staleCredential]), from: Draft.rewritten
      ) {
        let old = $0.forged().slots[1]
        $0.groups[1].epoch = 2
        $0.slots[1].epoch = 2
        $0.finished = { file in
          file.store(old, at: Draft.Offset.slots + Draft.Offset.slotCount)
          file.mendChecksum()
        }
      },
      Vector(
        "slot-revoked-owner", "an owner's slot of before a rotation of the vault put back",
        .each(["owner": .tampered, "stranger": .tampered])
      ) {
        $0.addSlot(.stranger)
        $0.attempts.append(.stranger)
        let old = $0.forged().slots[1]
        $0.vaultKey = .run(from: 11)
        $0.generation = 2
        $0.finished = { file in
          file.store(old, at: Draft.Offset.slots + Draft.Offset.slotCount)
          file.mendChecksum()
        }
      },
    ]
  }

  private static var searches: [Vector] {
    [
      Vector("slot-stranger", "a key that opens no slot", .each(["stranger": .credentialRejected])) {
        $0.attempts.append(.stranger)
      },
      Vector(
        "slot-epoch-behind", "a group slot of the epoch before", .each(["holder": .staleCredential]), from: Draft.house
      ) {
        $0.groups[1].epoch = 2
        $0.slots[1].epoch = 1
      },
      Vector(
        "slot-group-gone", "a group slot of a group that is not there", .each(["holder": .staleCredential]),
        from: Draft.house
      ) {
        $0.slots[1].groupID.flip(at: 0)
      },
      Vector("slot-stale-before-current", "one key in a stale and a current group slot", .opens, from: Draft.house) {
        $0.groups[1].epoch = 5
        $0.slots[1].epoch = 4
        $0.addHolder(.holder, of: 1)
      },
      Vector(
        "slot-gone-before-stale", "one key in the slot of a group that is gone, a stale slot and a current one", .opens,
        from: Draft.house
      ) {
        $0.groups[1].epoch = 3
        $0.slots[1].groupID.flip(at: 15)
        $0.addHolder(.holder, of: 1)
        $0.slots[2].epoch = 2
        $0.addHolder(.holder, of: 1)
      },
      Vector(
        "slot-holder-before-owner", "one key in a group slot and, behind it, in an owner slot", .opens,
        from: Draft.house
      ) {
        $0.addSlot(.holder)
        $0.attempts = [.owner, Attempt(name: "both", credential: .holder, view: .owner)]
      },
      Vector("slot-two-groups", "one key in slots of two groups: both are open", .opens, from: Draft.house) {
        $0.addHolder(.holder, of: 0)
        $0.attempts = [.owner, Attempt(name: "holder", credential: .holder, view: .holder(of: [0, 1]))]
      },
      Vector(
        "slot-two-groups-stale", "one key in slots of two groups, the first of an earlier epoch: the other is open",
        .opens, from: Draft.house
      ) {
        $0.addHolder(.holder, of: 0)
        $0.groups[1].epoch = 2
        $0.attempts = [
          .owner, Attempt(name: "holder", credential: .holder, view: .holder(of: [0]), refusedGroups: ["ci"]),
        ]
      },
      Vector(
        "slot-two-groups-owner", "one key in slots of a group and of the vault: an owner's", .opens, from: Draft.house
      ) {
        $0.addHolder(.holder, of: 0)
        $0.addSlot(.holder)
        $0.attempts = [.owner, Attempt(name: "both", credential: .holder, view: .owner)]
      },
      Vector("slot-group-twice", "two slots of one key and group: the first is used", .opens, from: Draft.house) {
        let index = $0.addHolder(.holder, of: 1)
        $0.slots[index].granted = .run(from: 9)
      },
      Vector(
        "slots-passphrase-groups", "one passphrase in slots of two groups: both are open", .opens, from: Draft.house
      ) {
        $0.addHolder(.words, of: 0)
        $0.addHolder(.words, of: 1)
        $0.attempts = [.owner, Attempt(name: "words", credential: .words, view: .holder(of: [0, 1]))]
      },
      Vector(
        "slot-first-decides", "two slots of one key, the first of which grants a wrong one: it ends the search",
        .owner(.tampered)
      ) {
        $0.addSlot(.owner)
        $0.slots[0].granted = .run(from: 9)
      },
      Vector("slot-kind-decides", "a raw key is not tried on a passphrase slot", .each(["owner": .credentialRejected]))
      {
        $0.addSlot(.words)
        $0.slots.removeFirst()
        $0.attempts.append(Attempt(name: "words", credential: .words, view: .owner))
      },
      Vector(
        "slots-passphrases", "three passphrases, one of a holder", .each(["wrong": .credentialRejected]),
        from: Draft.house
      ) {
        $0.addSlot(.words)
        $0.addSlot(.passphrase("x"))
        $0.addHolder(.passphrase("a holder's passphrase"), of: 1)
        $0.attempts = [
          Attempt(name: "first", credential: .words, view: .owner),
          Attempt(name: "one byte", credential: .passphrase("x"), view: .owner),
          Attempt(name: "holder", credential: .passphrase("a holder's passphrase"), view: .holder(of: [1])),
          Attempt(name: "wrong", credential: .passphrase("X"), view: .none),
        ]
      },
      Vector(
        "slots-passphrase-bytes", "passphrases of 4096 bytes, with NUL and beyond ASCII, byte for byte",
        .each(["cut": .credentialRejected, "composed": .credentialRejected])
      ) {
        let long = String(repeating: "0123456789abcdef", count: 256)
        $0.addSlot(.passphrase(long))
        $0.addSlot(.passphrase("nul\u{0}nul"))
        $0.addSlot(.passphrase("e\u{301}\u{1F511}"))
        $0.attempts = [
          Attempt(name: "long", credential: .passphrase(long), view: .owner),
          Attempt(name: "nul", credential: .passphrase("nul\u{0}nul"), view: .owner),
          Attempt(name: "decomposed", credential: .passphrase("e\u{301}\u{1F511}"), view: .owner),
          Attempt(name: "cut", credential: .passphrase("nul"), view: .none),
          Attempt(name: "composed", credential: .passphrase("\u{E9}\u{1F511}"), view: .none),
        ]
      },
      Vector("slots-64", "64 slots, the last of which is the owner's", .opens) {
        for _ in 0..<63 { $0.addSlot(nil) }
        $0.slots.swapAt(0, 63)
      },
      Vector(
        "slots-unknown-kinds", "slots of kinds 0, 3, 200 and 255 with anything behind their reserved bytes", .opens
      ) {
        for kind: UInt8 in [0, 3, 200, 255] {
          let index = $0.addSlot(nil, kind: kind)
          ($0.slots[index].scope, $0.slots[index].epoch) = (kind, .max)
          ($0.slots[index].passes, $0.slots[index].memory) = (.max, .max)
          ($0.slots[index].salt, $0.slots[index].groupID) = (.run(from: kind, count: 16), .run(from: kind, count: 16))
          $0.slots[index].listedKEK = .zeros(32)
        }
      },
    ]
  }
}
