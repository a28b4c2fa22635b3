/// Records that are removed and kept (3.8, tag 7): absent for readers, and with their earlier values for a restore.
enum RemovedVectors {
  static var all: [Vector] { accepted + refused }

  /// When it was removed, and until when it is kept.
  private static let times = Bytes.integer(Draft.time) + .integer(Draft.time + 2_592_000_000)

  /// A record without a value, for the group's generation 3.
  private static func removed(_ key: String, class: UInt8 = 0) -> Record {
    var record = Record("app", key, "")
    (record.kind, record.class, record.revision) = (2, `class`, 3)
    record.items = [(7, times)]
    record.previous = [.init(2, "newer"), .init(1, "older")]
    return record
  }

  private static var accepted: [Vector] {
    [
      opens("records", "removed records of each class between others, one with other items") { draft in
        var records = (0...3).map { removed("key \($0)", class: UInt8($0)) }
        records[1].items += [(1, Bytes("label")), (3, .integer(Int64(5))), (6, [2, 0]), (8, [1])]
        draft.groups[0].section.records = [Record("app", "a")] + records + [Record("app", "z")]
      },
      opens("times", "times before 1970 and at the end, and no earlier value") { draft in
        var record = removed("key")
        record.previous = []
        record.items = [(7, .integer(Int64.min) + .integer(Int64.max))]
        draft.groups[0].section.records = [record]
      },
      opens("unopened", "a removed record whose empty value does not verify") { draft in
        var record = removed("key", class: 2)
        record.sealed = .zeros(72)
        draft.groups[0].section.records = [record]
      },
      Vector("removed-in-entry", "a removal put by an entry, and one removed for good", .opens, from: Draft.journal) {
        var record = removed("key 1")
        record.revision = nil
        $0.append(0, .put(record))
        $0.append(0, .remove(service: record.service, key: record.key))
        $0.append(0, .put(record))
      },
      Vector("removed-set", "a removed record that is set again", .opens, from: Draft.journal) {
        var record = removed("key 1")
        record.revision = nil
        $0.append(0, .put(record))
        $0.append(0, .put(Record("app", "key 1", "new")))
      },
    ]
  }

  private static var refused: [Vector] {
    [
      malformed("short", "a removal of 15 bytes") { $0.items = [(7, .zeros(15))] },
      malformed("long", "a removal of 17 bytes") { $0.items = [(7, .zeros(17))] },
      malformed("twice", "two removals") { $0.items = [(7, times), (7, times)] },
      malformed("kind", "of kind 1") { $0.kind = 1 },
      malformed("value", "with a value of one byte") { $0.value = [0] },
      malformed("device", "of class 2 with a value of 144 bytes") {
        $0.class = 2
        $0.sealed = .zeros(144)
      },
      malformed("not", "of class 2 with a value of 72 bytes, not removed") {
        $0.class = 2
        $0.items = []
        $0.sealed = .zeros(72)
      },
    ]
  }

  private static func opens(_ name: String, _ about: String, _ change: @escaping (inout Draft) -> Void) -> Vector {
    Vector("removed-" + name, about, .opens) {
      $0.groups[0].section.generation = 3
      change(&$0)
    }
  }

  private static func malformed(
    _ name: String, _ about: String, _ change: @escaping (inout Record) -> Void
  ) -> Vector {
    Vector("removed-" + name, "a removed record: " + about, .sealed(.malformed)) {
      $0.groups[0].section.generation = 3
      var record = removed("key")
      change(&record)
      $0.groups[0].section.records = [record]
    }
  }
}
