/// The bounds of Argon2id, checked for all slots before anything is derived (3.10; section 4, step 5).
enum CostVectors {
  static var all: [Vector] {
    [
      refused("memory-low", "1 KiB less than 8 MiB", (1, 8191)),
      refused("memory-high", "1 KiB more than 1 GiB", (1, (1 << 20) + 1)),
      refused("passes-zero", "no pass", (0, 8192)),
      refused("passes-last", "2^32 - 1 passes", (.max, 8192)),
      refused("work-high", "513 passes over 8 MiB: one more than 4 GiB in all", (513, 8192)),
      accepted("memory-most", "1 GiB", [(1, 1 << 20)]),
      accepted("sum-most", "8 GiB in two slots", [(4, 1 << 20), (512, 8192)]),
      Vector("cost-sum-high", "8 MiB more than 8 GiB in three slots", .refused(.kdfRefused)) {
        add([(4, 1 << 20), (4, 1 << 20), (1, 8192)], to: &$0)
      },
      Vector("cost-nine", "nine passphrase slots", .refused(.limitExceeded)) {
        add(Array(repeating: (1, 8192), count: 9), to: &$0)
      },
      Vector("cost-unknown-kind", "a slot of an unknown kind may ask for anything", .opens) {
        let index = $0.addSlot(nil, kind: 3)
        ($0.slots[index].passes, $0.slots[index].memory) = (0, .max)
      },
      Vector("cost-odd", "2 passes over 8195 KiB", .opens) {
        $0.addSlot(.words)
        ($0.slots[1].passes, $0.slots[1].memory) = (2, 8195)
        $0.attempts.append(Attempt(name: "words", credential: .words, view: .owner))
      },
    ]
  }

  private typealias Cost = (passes: UInt32, kibibytes: UInt32)

  private static func refused(_ name: String, _ about: String, _ cost: Cost) -> Vector {
    Vector("cost-" + name, "a passphrase slot asks for " + about, .refused(.kdfRefused)) { add([cost], to: &$0) }
  }

  private static func accepted(_ name: String, _ about: String, _ costs: [Cost]) -> Vector {
    Vector("cost-" + name, "passphrase slots ask for " + about, .opens) { add(costs, to: &$0) }
  }

  /// Adds passphrase slots that nobody opens.
  private static func add(_ costs: [Cost], to draft: inout Draft) {
    for cost in costs {
      let index = draft.addSlot(nil, kind: 1)
      (draft.slots[index].passes, draft.slots[index].memory) = cost
    }
  }
}
