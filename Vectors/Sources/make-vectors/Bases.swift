/// The vaults that most vectors start from.
extension Draft {
  /// One owner, one group, one record, no journal.
  static func small(seed: String) -> Draft {
    var draft = Draft(seed: seed)
    draft.addSlot(.owner, label: "owner")
    draft.addGroups("default")
    draft.groups[0].section.records = [Record("db", "password", "s3cret")]
    draft.attempts = [.owner]
    return draft
  }

  /// `small` with a holder of its group.
  static func pair(seed: String) -> Draft {
    var draft = small(seed: seed)
    draft.addHolder(.holder, of: 0)
    draft.attempts.append(Attempt(name: "holder", credential: .holder, view: .holder(of: [0])))
    return draft
  }

  /// An owner and a holder of `ci`, two groups with an entry each.
  static func house(seed: String) -> Draft {
    var draft = Draft(seed: seed)
    draft.addSlot(.owner, label: "owner")
    draft.addGroups("default", "ci")
    draft.addHolder(.holder, of: 1)
    draft.groups[0].section.records = [Record("db", "password", "s3cret")]
    draft.groups[1].section.records = [Record("git", "token", "t0ken"), Record("git", "user", "ci")]
    draft.append(0, .put(Record("db", "user", "app")))
    draft.append(1, .put(Record("git", "token", "t0ken 2")))
    draft.attempts = [.owner, .holder]
    return draft
  }

  /// `house` without entries.
  static func bare(seed: String) -> Draft {
    var draft = house(seed: seed)
    draft.entries = []
    return draft
  }

  /// `small` with three entries.
  static func journal(seed: String) -> Draft {
    var draft = small(seed: seed)
    for number in 1...3 { draft.append(0, .put(Record("app", "key \(number)", "value \(number)"))) }
    return draft
  }

  /// `house` in its second owner write, with folded journals and higher generations. The one before it is
  /// `house` of the same seed.
  static func rewritten(seed: String) -> Draft {
    var draft = house(seed: seed)
    draft.generation = 2
    for group in draft.groups.indices { draft.groups[group].section.generation = 3 }
    draft.groups[0].section.records = [Record("db", "password", "s3cret"), Record("db", "user", "app")]
    draft.entries = []
    return draft
  }
}
