/// What a reader finds in a vault, in the words of the vectors' manifest.
struct Findings {
  let isOwner: Bool
  let vaultGeneration: UInt64
  let hasTornTail: Bool
  /// Whole entries of all groups.
  let entryCount: Int
  /// Those that the credential grants, in the file's order.
  let groups: [GroupState]

  static func withoutKey(entryCount: Int, hasTornTail: Bool) -> JSON {
    .object([("ok", .bool(true)), ("entries", .number(entryCount)), ("torn_tail", .bool(hasTornTail))])
  }

  func json(deviceRefusal: Refusal? = nil) -> JSON {
    .object([
      ("owner", .bool(isOwner)), ("vault_generation", .number(vaultGeneration)), ("torn_tail", .bool(hasTornTail)),
      ("entries", .number(entryCount)),
      ("groups", .object(groups.map { $0.json(deviceRefusal: deviceRefusal) })),
    ])
  }
}
