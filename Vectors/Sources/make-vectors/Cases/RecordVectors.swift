/// What a record says beside its names and its value (3.6), in a section and in an entry.
enum RecordVectors {
  static var all: [Vector] {
    faults.map { name, about, change in
      Vector("record-" + name, "a record: " + about, .sealed(.malformed)) {
        change(&$0.groups[0].section.records[0])
      }
    }
      + [
        Vector("record-revision-above", "a revision above the section's generation", .sealed(.malformed)) {
          $0.groups[0].section.records[0].revision = 2
        },
        Vector("record-revisions", "revisions below the section's generation, times before and beyond all", .opens) {
          $0.groups[0].section.generation = 9
          var records = (0..<3).map { Record("r", "\($0)") }
          (records[0].revision, records[0].created, records[0].modified) = (1, .min, .max)
          (records[1].revision, records[1].created, records[1].modified) = (9, .max, .min)
          (records[2].revision, records[2].created, records[2].modified) = (5, -1, 0)
          $0.groups[0].section.records = records
        },
      ]
  }

  private typealias Fault = (name: String, about: String, change: (inout Record) -> Void)

  private static var faults: [Fault] {
    [
      ("kind-zero", "kind 0", { $0.kind = 0 }),
      (
        "class-4", "class 4",
        {
          $0.class = 4
          $0.value = .zeros(100)
        }
      ),
      ("class-255", "class 255", { $0.class = 255 }),
      ("zero-low", "the lower reserved byte is not zero", { $0.zero = 1 }),
      ("zero-high", "the upper reserved byte is not zero", { $0.zero = 1 << 8 }),
      ("revision-zero", "revision 0", { $0.revision = 0 }),
      ("revision-last", "revision 2^64 - 1", { $0.revision = .max }),
      ("value-71", "a sealed value of 71 bytes", { $0.sealed = .run(from: 0, count: 71) }),
      (
        "value-71-name", "the same, and a bad name behind it: the first fault decides",
        {
          $0.sealed = .run(from: 0, count: 71)
          $0.items = [(4, [0, 0, 1])]
        }
      ),
      (
        "value-143-class-2", "a sealed value of 143 bytes in class 2",
        {
          $0.class = 2
          $0.sealed = .run(from: 0, count: 143)
        }
      ),
      (
        "value-143-class-3", "a sealed value of 143 bytes in class 3",
        {
          $0.class = 3
          $0.sealed = .run(from: 0, count: 143)
        }
      ),
    ]
  }
}
