/// Two faults each: section 4 fixes which one is reported.
enum OrderVectors {
  static var all: [Vector] {
    header + structure + slots + bodies
  }

  private static func order(
    _ name: String, _ about: String, _ refusal: Refusal, from base: @escaping (String) -> Draft = Draft.small,
    _ change: @escaping (inout Draft) -> Void
  ) -> Vector {
    Vector("order-" + name, about, .refused(refusal), from: base, change)
  }

  private static var header: [Vector] {
    [
      order("short-version", "too short before the version", .damaged) {
        $0.version = 2
        $0.finished = { $0.removeLast($0.count - 87) }
      },
      order("version-flags", "the version before the flags", .unsupportedVersion) { ($0.version, $0.flags) = (2, 1) },
      order("checksum-counts", "the checksum before the counts", .damaged) {
        $0.slotCount = 65
        $0.finished = { $0.flip(at: 60) }
      },
      order("generation-length", "vault_generation before manifest_len", .limitExceeded) {
        $0.generation = 0
        $0.manifestCount = 0
      },
    ]
  }

  private static var structure: [Vector] {
    [
      order("structure-journal", "a section's head before the journal's frame", .malformed, from: Draft.journal) {
        $0.groups[0].headZero = 1
        $0.entries[0].finished = { $0.flip(at: 60) }
      },
      order("journal-slots", "the journal's frame before the slots' bounds", .damaged, from: Draft.journal) {
        $0.entries[0].finished = { $0.flip(at: 60) }
        $0.addSlot(nil, kind: 1)
        $0.slots[1].memory = 0
      },
      order("entry-head-slots", "an entry's head before the slots' bounds", .malformed, from: Draft.journal) {
        $0.entries[0].headZero = 1
        $0.addSlot(nil, kind: 1)
        $0.slots[1].memory = 0
      },
    ]
  }

  private static var slots: [Vector] {
    [
      order("cost-rule", "the first slot's cost before the second one's rules", .kdfRefused) {
        $0.addSlot(nil, kind: 1)
        $0.slots[1].memory = 0
        $0.addSlot(nil)
        $0.slots[2].scope = 2
      },
      order("rule-cost", "the first slot's rules before the second one's cost", .malformed) {
        $0.slots[0].scope = 2
        $0.addSlot(nil, kind: 1)
        $0.slots[1].memory = 0
      },
      order("slot-rule-cost", "one slot's rules before its cost", .malformed) {
        $0.addSlot(nil, kind: 1)
        ($0.slots[1].memory, $0.slots[1].zero) = (0, [1, 0])
      },
      order("sum-number", "the sum of costs before the number of passphrase slots", .kdfRefused) {
        for index in 1...9 {
          $0.addSlot(nil, kind: 1)
          ($0.slots[index].passes, $0.slots[index].memory) = (1, 1 << 20)
        }
      },
      Vector(
        "order-credential-manifest", "the credential before the manifest",
        .each(["owner": .tampered, "stranger": .credentialRejected])
      ) {
        $0.manifest.twist.sealed = { $0.flip(at: 60) }
        $0.attempts.append(.stranger)
      },
      Vector(
        "order-stale-section", "a stale slot before the section's seal",
        .each(["owner": .tampered, "holder": .staleCredential]), from: Draft.house
      ) {
        $0.groups[1].epoch = 2
        $0.groups[1].section.twist.sealed = { $0.flip(at: 60) }
        $0.entries = []
      },
      Vector("order-section-entry", "a section before its entries", .sealed(.malformed), from: Draft.journal) {
        $0.groups[0].section.rest = [0]
        $0.entries[0].twist.sealed = { $0.flip(at: 60) }
      },
      Vector("order-epoch-section", "the listed epoch before the section's body", .sealed(.tampered)) {
        $0.groups[0].listedEpoch = 2
        $0.groups[0].section.rest = [0]
      },
    ]
  }

  private static var bodies: [Vector] {
    [
      Vector("order-manifest-lists", "the manifest's body before what it lists", .owner(.malformed), from: Draft.house)
      {
        $0.manifest.lines = { groups, _ in groups.swapAt(0, 1) }
        $0.slots[1].label = [0xFF]
      },
      Vector("order-manifest-count", "a count of groups that cannot fit before their names", .owner(.malformed)) {
        $0.manifest.groupCount = 1000
        $0.groups[0].listedName = []
      },
      Vector("order-record-count", "a count of records that cannot fit before their names", .sealed(.malformed)) {
        $0.groups[0].section.count = 50
        $0.groups[0].section.records[0].service = []
      },
      Vector("order-change-count", "a count of changes that cannot fit before their names", .sealed(.malformed)) {
        $0.append(0, .remove(service: [], key: [0x6B]))
        $0.entries[0].count = 50
      },
      Vector("order-name-length", "a name longer than the body before its limit", .sealed(.malformed)) {
        $0.groups[0].section.body = { $0.store(UInt16(60_000), at: 61) }
      },
      Vector("order-name-kind", "a record's key before its kind", .sealed(.invalidName)) {
        ($0.groups[0].section.records[0].key, $0.groups[0].section.records[0].kind) = ([9], 0)
      },
      Vector("order-extension-name", "an attribute's name before a previous value", .sealed(.invalidName)) {
        $0.groups[0].section.records[0].items = [(4, [1, 0, 9]), (5, [])]
      },
      Vector(
        "order-extension-item", "an attribute's name before a list that is broken behind it", .sealed(.invalidName)
      ) {
        $0.groups[0].section.records[0].extensionField = Record.item(4, [1, 0, 9]) + [1]
      },
      Vector("order-extension-list", "a list that falls before an attribute's name", .sealed(.malformed)) {
        $0.groups[0].section.records[0].extensionField = Record.item(8, []) + Record.item(4, [1, 0, 9])
      },
      Vector("order-counts-generation", "n_groups before vault_generation and manifest_len", .refused(.limitExceeded)) {
        $0.groupCount = 1025
        $0.manifestCount = 7
      },
      Vector(
        "order-kek-id", "a KEK in the owner's line, which stands in another place: the line's id decides",
        .owner(.malformed), from: Draft.pair
      ) {
        $0.slots[0].listedKEK = .run(from: 1)
        $0.manifest.lines = { _, slots in slots.swapAt(0, 1) }
      },
      Vector(
        "order-kek-unknown-id", "a KEK in a line of no slot, in the owner's place", .owner(.tampered), from: Draft.pair
      ) {
        $0.slots[0].listedKEK = .run(from: 1)
        $0.slots[0].listedID = .run(from: 0xD0, count: 16)
      },
      Vector("order-changes", "a removal of nothing before a later name", .sealed(.malformed), from: Draft.journal) {
        $0.append(0, .remove("a", "a"), .remove(service: Bytes("b"), key: []))
      },
      Vector("order-value-kind", "a value's seal before its kind's form", .opens) {
        ($0.groups[0].section.records[0].kind, $0.groups[0].section.records[0].value) = (3, [9])
        $0.groups[0].section.records[0].twist.sealed = { $0.flip(at: 30) }
        $0.groups[0].section.records[0].refusal = .tampered
      },
    ]
  }
}
