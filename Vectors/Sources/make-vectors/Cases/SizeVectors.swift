/// Bodies on both sides of the padding's steps (2.4). Few, since they are long.
enum SizeVectors {
  static var all: [Vector] {
    [
      Vector("size-sections", "section bodies of 1022, 1023, 1024, 2047 and 2048 bytes", .opens) {
        fill(&$0, [1022, 1023, 1024, 2047, 2048])
      },
      Vector("size-section-32768", "a section body of 32768 bytes, the first of the steps of 2048", .opens) {
        fill(&$0, [32_768])
      },
      Vector("size-entries", "entry bodies of 254, 255, 256, 8191 and 8192 bytes", .opens) {
        for count in [254, 255, 256, 8191, 8192] { $0.append(0, .put(record(entryOf: count))) }
      },
      Vector("size-entry-step", "an entry body of 8192 bytes, padded as if its step were 256", .sealed(.malformed)) {
        $0.append(0, .put(record(entryOf: 8192)))
        $0.entries[0].twist.padded = Pad.to(33 * 256)
      },
    ]
  }

  /// A record that makes an entry's body this long: before it generation, n_changes and the change's kind.
  private static func record(entryOf count: Int) -> Record {
    let fixed: Int = 2 + 4 + 2 + 4 + 28 + 4 + Sealing.overhead + 4
    return Record("size", "fill", String(repeating: "x", count: count - 13 - fixed))
  }

  /// Groups without records whose extension field makes their sections' bodies this long.
  private static func fill(_ draft: inout Draft, _ counts: [Int]) {
    draft.groups = []
    for name in ["a", "b", "c", "d", "e"].prefix(counts.count) { draft.addGroups(name) }
    draft.groups.sort { $0.id.lexicographicallyPrecedes($1.id) }
    // Beside the item's data: generation, base, the name of one byte, n_records, two lengths and a tag.
    for (index, count) in counts.enumerated() {
      draft.groups[index].section.extensionField = Record.item(9, .zeros(count - 48 - 3 - 4 - 4 - 6))
    }
  }
}
