/// Whole vaults that are right.
enum VaultVectors {
  static var all: [Vector] {
    [
      Vector("vault-minimal", "the minimal vault of annex A, byte for byte", .opens, from: minimal) { _ in },
      Vector(
        "vault-house", "an owner and a holder, two groups, entries of both; the holder sees no other group", .opens,
        from: Draft.house
      ) {
        $0.attempts[1].refusedGroups = ["default", "other"]
        $0.attempts[0].refusedGroups = ["other", "ci "]
      },
      Vector("vault-rewritten", "the same in its second owner write", .opens, from: Draft.rewritten) { _ in },
      Vector("vault-no-groups", "no access group", .opens) { $0.groups = [] },
      Vector("vault-empty-group", "a group without records", .opens) { $0.groups[0].section.records = [] },
      Vector("vault-nine-groups", "nine groups, with a holder of the last", .opens) {
        $0.addGroups("b", "c", "d", "e", "f", "g", "h", "i")
        $0.groups.sort { $0.id.lexicographicallyPrecedes($1.id) }
        for index in $0.groups.indices { $0.groups[index].section.records = [Record("s", "k", "\(index)")] }
        $0.addHolder(.holder, of: 8)
        $0.attempts.append(Attempt(name: "holder", credential: .holder, view: .holder(of: [8])))
      },
      Vector("vault-epoch-last", "epoch 2^31 - 1", .opens, from: Draft.house) {
        $0.groups[1].epoch = 1 << 31 - 1
        $0.slots[1].epoch = 1 << 31 - 1
      },
      Vector("vault-generation-last", "vault_generation and a group's generation 2^63 - 1", .opens) {
        $0.generation = 1 << 63 - 1
        $0.groups[0].section.generation = 1 << 63 - 1
      },
    ]
  }

  /// Draws what the annex lists, in its order.
  static func minimal(seed _: String) -> Draft {
    var draft = Draft.small(seed: "SPV1 minimal")
    draft.append(0, .put(Record("db", "user", "app")))
    draft.reserve = .zeros(8)
    return draft
  }
}
