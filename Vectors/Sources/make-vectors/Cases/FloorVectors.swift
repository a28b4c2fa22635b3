/// What an owner holds a section against: floors, bases, epochs and names (section 4, step 7).
enum FloorVectors {
  static var all: [Vector] {
    accepted + refused + listed
  }

  private static var accepted: [Vector] {
    [
      Vector("fold", "a group folded by its holder", .opens, from: Draft.house) { fold(&$0, generation: 2) },
      Vector("fold-2-32", "a fold 2^32 generations ahead of the floor", .opens, from: Draft.house) {
        fold(&$0, generation: 1 + (1 << 32))
      },
      Vector(
        "fold-behind-journal", "a fold among the entries of the other group, and an entry behind it", .opens,
        from: Draft.house
      ) {
        $0.append(0, .put(Record("app", "a", "1")))
        $0.append(0, .remove("db", "password"))
        fold(&$0, generation: 7)
        $0.append(1, .put(Record("app", "behind the fold")))
      },
      Vector("fold-rewritten", "an owner write whose floor is what a holder had folded", .opens, from: Draft.rewritten)
      {
        $0.groups[1].section.baseGeneration = 1
        $0.groups[1].section.baseTag = .run(from: 1)
      },
      Vector("floor-base-older", "a section that the last owner write left alone", .opens, from: Draft.rewritten) {
        $0.groups[0].section.baseGeneration = 1
      },
      Vector("floor-base-tag", "a section at its floor with a base_tag: the tag fixes it, nobody looks", .opens) {
        $0.groups[0].section.baseTag = .run(from: 1)
      },
    ]
  }

  private static var refused: [Vector] {
    [
      floor("fold-2-32-beyond", "a fold 2^32 + 1 generations ahead") { fold(&$0, generation: 2 + (1 << 32)) },
      floor("fold-generation-last", "a fold that uses up all generations") { fold(&$0, generation: 1 << 63 - 1) },
      floor("fold-base-tag-zero", "a holder's section with an owner's base_tag") {
        fold(&$0, generation: 2) { $0.baseTag = .zeros(32) }
      },
      floor("fold-base-tag", "a fold that rests on another manifest") {
        fold(&$0, generation: 2) { $0.baseTag = .run(from: 1) }
      },
      floor("fold-same-generation", "another section of the floor's generation") { fold(&$0, generation: 1) },
      Vector("fold-base-older", "a fold that rests on the owner write before", .owner(.tampered), from: Draft.rewritten)
      {
        fold(&$0, generation: 4) { $0.baseGeneration = 1 }
      },
      Vector(
        "fold-older", "a section below its floor, on the last owner write", .owner(.tampered), from: Draft.rewritten
      ) {
        fold(&$0, generation: 2)
      },
      floor("fold-name", "a group renamed by its holder") { fold(&$0, generation: 2) { $0.name = Bytes("other") } },
      Vector(
        "base-ahead", "a section that rests on an owner write that has not been", .sealed(.tampered), from: Draft.pair
      ) {
        $0.groups[0].section.baseGeneration = 2
      },
      Vector(
        "fold-base-ahead", "a fold that rests on an owner write that has not been", .sealed(.tampered),
        from: Draft.pair
      ) {
        fold(&$0, generation: 2) { $0.baseGeneration = 2 }
      },
    ]
  }

  /// Refused to the owner; a holder cannot know.
  private static func floor(_ name: String, _ about: String, _ change: @escaping (inout Draft) -> Void) -> Vector {
    Vector(name, about, .owner(.tampered), from: Draft.pair, change)
  }

  private static var listed: [Vector] {
    [
      floor("floor-tag", "a floor_tag that is not the section's") { $0.groups[0].floorTag = .run(from: 1) },
      floor("floor-above", "a floor above the section") { $0.groups[0].floorGeneration = 2 },
      floor("floor-below", "a floor below the owner's own section") {
        $0.groups[0].section.generation = 2
        $0.groups[0].floorGeneration = 1
      },
      floor("floor-epoch", "an epoch that is not the section's") { $0.groups[0].listedEpoch = 2 },
      floor("floor-name", "a name that is not the section's") { $0.groups[0].listedName = Bytes("defaults") },
      floor("floor-name-prefix", "a name that the section's continues") { $0.groups[0].listedName = Bytes("defaul") },
    ]
  }

  /// What the holder of the last group leaves, with an entry folded in.
  private static func fold(
    _ draft: inout Draft, generation: UInt64, _ change: (inout Section) -> Void = { _ in }
  ) {
    var section = Section()
    section.generation = generation
    section.records = [Record("git", "token", "folded")]
    change(&section)
    let last = draft.groups.count - 1
    draft.groups[last].fold = section
    // Its own entries go with the fold.
    draft.entries.removeAll { $0.group == last }
  }
}
