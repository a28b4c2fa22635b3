/// The extension field of a record (3.8): known tags are checked on load, unknown ones kept.
enum ExtensionVectors {
  static var all: [Vector] {
    accepted + fields + tags + previous
  }

  private static var accepted: [Vector] {
    [
      Vector("extension", "every known tag and some unknown ones", .opens) {
        $0.groups[0].section.generation = 5
        $0.groups[0].section.records[0].items = [
          (0, [1]), (1, Bytes("label \u{1F511}")), (2, Bytes("comment\u{0}")), (3, .integer(Int64.min)),
          (4, attribute("a", [0, 0xFF])), (4, attribute("a", [])), (4, attribute("b", Bytes("value"))),
          (6, [2, 0]), (8, []), (8, []), (.max, [0]),
        ]
        $0.groups[0].section.records[0].previous = [.init(4, "newer"), .init(2, "older")]
      },
      Vector("extension-empty", "a label, a comment and an unknown item without content, a depth of 0", .opens) {
        $0.groups[0].section.records[0].items = [(1, []), (2, []), (6, [0, 0]), (8, [])]
      },
      Vector("extension-previous-kinds", "previous values of other kinds than the value", .opens) {
        $0.groups[0].section.generation = 9
        var previous = [Record.Previous(8, "s"), Record.Previous(7, "{}"), Record.Previous(1, "")]
        (previous[0].kind, previous[0].value) = (200, [0xFF])
        previous[1].kind = 9
        (previous[2].kind, previous[2].value, previous[2].modified) = (4, .zeros(8), .min)
        $0.groups[0].section.records[0].previous = previous
      },
      Vector("extension-in-entry", "a history put by an entry", .opens, from: Draft.journal) {
        var record = Record("app", "key 1", "value 4")
        record.items = [(6, [3, 0])]
        record.previous = [.init(4, "value 3"), .init(3, "value 2"), .init(2, "value 1")]
        $0.append(0, .put(record))
      },
    ]
  }

  private static func attribute(_ name: String, _ value: Bytes) -> Bytes { .lp16(Bytes(name)) + value }

  private static var fields: [Vector] {
    [
      field("cut-tag", "a field that ends in a tag", Record.item(8, []) + [9]),
      field("cut-data", "an item longer than its field", [9, 0] + .integer(UInt32(2)) + [0]),
      Vector("extension-length", "a record: an extension field longer than the body", .sealed(.malformed)) {
        $0.groups[0].section.body = { $0.store(UInt32(5), at: $0.count - 8) }
      },
    ]
  }

  private static var tags: [Vector] {
    [
      item("label-not-utf-8", "a label that is not UTF-8", [(1, [0xFF])]),
      item("label-twice", "two labels", [(1, Bytes("a")), (1, Bytes("b"))]),
      item("expiry-short", "an expiry of 7 bytes", [(3, .zeros(7))]),
      item("expiry-twice", "two expiries", [(3, .zeros(8)), (3, .zeros(8))]),
      item("attribute-empty", "an attribute without a name's length", [(4, [])]),
      item("attribute-name-empty", "an attribute with an empty name", [(4, [0, 0, 1])], .invalidName),
      item(
        "attribute-name-control", "an attribute with a control character in its name",
        [(4, attribute("a\n", []))], .invalidName),
      item("depth-short", "a history depth of 1 byte", [(6, [1])]),
      item("depth-twice", "two history depths", [(6, [1, 0]), (6, [1, 0])]),
    ]
  }

  private static var previous: [Vector] {
    [
      kept("kind-zero", "of kind 0") { $0[0].kind = 0 },
      kept("value-71", "of 71 sealed bytes") { $0[1].sealed = .zeros(71) },
      kept("longer", "with a byte behind it") { $0[1].rest = [0] },
      kept("revision-own", "of the record's own revision") { $0[0].revision = 5 },
      kept("revision-twice", "two of one revision") { $0[1].revision = 4 },
      kept("revision-rising", "the older first") { $0.swapAt(0, 1) },
      item("previous-empty", "a previous value of no bytes", [(5, [])]),
      item(
        "previous-cut-value", "a previous value longer than its item",
        [(5, .zeros(16) + [1, 73, 0, 0, 0] + .zeros(72))]),
    ]
  }

  private static func field(_ name: String, _ about: String, _ field: Bytes) -> Vector {
    Vector("extension-" + name, "a record: " + about, .sealed(.malformed)) {
      $0.groups[0].section.records[0].extensionField = field
    }
  }

  private static func item(
    _ name: String, _ about: String, _ items: [(tag: UInt16, data: Bytes)], _ refusal: Refusal = .malformed
  ) -> Vector {
    Vector("extension-" + name, "a record: " + about, .sealed(refusal)) {
      $0.groups[0].section.records[0].items = items
    }
  }

  private static func kept(
    _ name: String, _ about: String, _ change: @escaping (inout [Record.Previous]) -> Void
  ) -> Vector {
    Vector("extension-previous-" + name, "a record: a previous value " + about, .sealed(.malformed)) {
      $0.groups[0].section.generation = 6
      $0.groups[0].section.records[0].revision = 5
      $0.groups[0].section.records[0].previous = [.init(4, "newer"), .init(2, "older")]
      change(&$0.groups[0].section.records[0].previous)
    }
  }
}
