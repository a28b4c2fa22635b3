/// Framing the journal without any key (4.1): whole entries, torn ones, damaged ones, and the reserve.
enum JournalVectors {
  static var all: [Vector] {
    torn + damaged + heads + reserves
  }

  // MARK: Torn

  private static var torn: [Vector] {
    [
      last("cut-middle", "cut in the middle") { $0.removeLast($0.count / 2) },
      last("zeroed", "cut in the middle, then zeros to its end") { $0.store(.zeros(200), at: $0.count - 200) },
      last("flip-sealed", "a bit of its seal flipped, the check as it was") { $0.flip(at: 200) },
      last("flip-check", "a bit of its check flipped") { $0.flip(at: $0.count - 1) },
      Vector("torn-cut-clean", "the last entry cut off whole: a clean end", .opens, from: Draft.journal) {
        $0.entries.removeLast()
      },
    ]
  }

  /// The last of three entries, torn.
  private static func last(_ name: String, _ about: String, _ change: @escaping (inout Bytes) -> Void) -> Vector {
    Vector("torn-" + name, "the last entry: " + about, .opens, from: Draft.journal) {
      $0.entries[2].finished = change
      $0.entries[2].isTorn = true
    }
  }

  // MARK: Damaged

  private static var damaged: [Vector] {
    [
      middle("sealed", "a bit of its seal flipped") { $0.flip(at: 200) },
      middle("length", "its length 0") { $0.store(UInt32(0), at: 0) },
      middle("zeroed", "zeros") { $0 = .zeros($0.count) },
      Vector(
        "damaged-other-group", "an entry broken before one of another group", .refused(.damaged), from: Draft.house
      ) {
        $0.entries[0].finished = { $0.flip(at: 60) }
      },
    ]
  }

  private static func middle(_ name: String, _ about: String, _ change: @escaping (inout Bytes) -> Void) -> Vector {
    Vector("damaged-" + name, "an entry before another one: " + about, .refused(.damaged), from: Draft.journal) {
      $0.entries[1].finished = change
    }
  }

  // MARK: Heads

  private static var heads: [Vector] {
    [
      Vector(
        "entry-head-zero", "an entry whose second word is not zero, the check right", .refused(.malformed),
        from: Draft.journal
      ) {
        $0.entries[1].headZero = 1
      },
      Vector(
        "entry-head-group", "an entry of a group that the file does not have", .refused(.malformed), from: Draft.journal
      ) {
        $0.entries[1].headID = .run(from: 0xE0, count: 16)
      },
      Vector("entry-head-group-zero", "an entry of the group id 0", .refused(.malformed), from: Draft.journal) {
        $0.entries[2].headID = .zeros(16)
      },
      short("376", "an entry of 376 bytes, less than a padding step needs", Pad.to(248)),
      short("385", "an entry of 385 bytes, no multiple of 8", Pad.to(257)),
      Vector(
        "entry-length-376-before", "an entry of 376 bytes before another one", .refused(.damaged), from: Draft.journal
      ) {
        $0.entries[1].twist.padded = Pad.to(248)
      },
      Vector(
        "entry-length-392", "an entry of 392 bytes, padded to more than a step", .sealed(.malformed),
        from: Draft.journal
      ) {
        $0.entries[2].twist.padded = Pad.to(264)
      },
      Vector("entry-length-beyond", "the last entry's length 8 more than the file has", .opens, from: Draft.journal) {
        $0.entries[2].headCount = 384 + 8
        $0.entries[2].isTorn = true
      },
      Vector(
        "entry-length-into-reserve", "the last entry's length 8 more, with a reserve behind it", .opens,
        from: Draft.journal
      ) {
        $0.entries[2].headCount = 384 + 8
        $0.entries[2].isTorn = true
        $0.reserve = .zeros(512)
      },
    ]
  }

  private static func short(_ count: String, _ about: String, _ padded: @escaping (Bytes) -> Bytes) -> Vector {
    Vector("entry-length-" + count, about + ", is no entry", .opens, from: Draft.journal) {
      $0.entries[2].twist.padded = padded
      $0.entries[2].isTorn = true
    }
  }

  // MARK: Reserves

  private static var reserves: [Vector] {
    [
      reserve("odd", "an odd length", torn: false) { _ in .zeros(1021) },
      reserve("byte-first", "its first byte not zero", torn: true) { _ in [1] + .zeros(511) },
      reserve("byte-last", "its last, odd byte not zero", torn: true) { _ in .zeros(512) + [1] },
      reserve("head-at-tail", "a head without an entry at its very beginning", torn: true) {
        head(384, 0, $0) + .zeros(488)
      },
      stray("head", "8 bytes into it", damaged: true) { .zeros(8) + head(384, 0, $0) + .zeros(480) },
      stray("head-largest", "of the greatest length", damaged: true) { .zeros(64) + head(32 << 20, 0, $0) + .zeros(8) },
      stray("head-last", "in its last 24 bytes", damaged: true) { .zeros(104) + head(384, 0, $0) },
      stray("head-cut", "cut by one byte at the end of the file", damaged: false) {
        .zeros(104) + head(384, 0, $0).dropLast()
      },
      stray("head-unaligned", "4 bytes beside a multiple of 8", damaged: false) {
        .zeros(12) + head(384, 0, $0) + .zeros(500)
      },
      stray("head-short", "of 376 bytes", damaged: false) { .zeros(16) + head(376, 0, $0) + .zeros(500) },
      stray("head-long", "of 32 MiB and 8 bytes", damaged: false) {
        .zeros(16) + head(32 << 20 + 8, 0, $0) + .zeros(500)
      },
      stray("head-odd", "of 388 bytes", damaged: false) { .zeros(16) + head(388, 0, $0) + .zeros(500) },
      stray("head-word", "with a second word that is not zero", damaged: false) {
        .zeros(16) + head(384, 1, $0) + .zeros(500)
      },
      stray("head-group", "of an unknown group", damaged: false) {
        .zeros(16) + head(384, 0, $0.map { ~$0 }) + .zeros(500)
      },
    ]
  }

  private static func head(_ count: UInt32, _ zero: UInt32, _ group: Bytes) -> Bytes {
    .integer(count) + .integer(zero) + group
  }

  private static func reserve(
    _ name: String, _ about: String, torn: Bool, _ bytes: @escaping (_ group: Bytes) -> Bytes
  ) -> Vector {
    Vector("reserve-" + name, "a reserve: " + about, .opens, from: Draft.journal) {
      $0.reserve = bytes($0.groups[0].id)
      $0.hasTornReserve = torn
    }
  }

  private static func stray(
    _ name: String, _ about: String, damaged: Bool, _ bytes: @escaping (_ group: Bytes) -> Bytes
  ) -> Vector {
    let about = "a reserve: an entry's head " + about
    return Vector("reserve-" + name, about, damaged ? .refused(.damaged) : .opens, from: Draft.journal) {
      $0.reserve = bytes($0.groups[0].id)
      $0.hasTornReserve = !damaged
    }
  }
}
