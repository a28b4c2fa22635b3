internal import VaultCore
internal import VaultSealing

/// What `status` answers, as text and as JSON.
struct StatusReport {
  let path: String
  let summary: VaultSummary
  /// What the credential proved; nil without one.
  let verified: VaultStatus?

  var text: String {
    var lines: [(String, String)] = [
      ("vault", displayed(path)),
      ("format", "SPV1"),
      ("id", summary.vaultID.description),
      ("generation", "\(summary.generation)"),
      ("file", "\(summary.fileBytes) bytes: snapshot \(summary.snapshotBytes), journal \(summary.journalBytes)"),
      (
        "journal",
        Self.count(summary.entryCount, "entry", "entries")
          + (summary.hasTornTail ? "; the last write was cut off" : "")
      ),
    ]
    for slot in summary.slots { lines.append(("slot", Self.words(slot))) }
    if let verified {
      for group in verified.groups {
        lines.append(
          (
            "group",
            "\(displayed(group.name.text)): \(Self.count(group.recordCount, "record", "records")), "
              + "generation \(group.generation), epoch \(group.epoch)"
          ))
      }
      lines.append(("verified", verified.isOwner ? "all of it, as an owner" : "the granted groups"))
      if verified.isFrozen { lines.append(("frozen", "replaced outside; writes are refused")) }
    } else {
      lines.append(("groups", "\(summary.groupCount); their names are sealed"))
      lines.append(("verified", "the checksum; a passphrase or key would tell more"))
    }
    lines.append(("memory", Self.memory))
    lines.append(("libsodium", GuardedMemory.libraryVersion))
    return lines.map { name, value in
      name + String(repeating: " ", count: 12 - name.count) + value + "\n"
    }.joined()
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("vault", .string(path)), ("format", .string("SPV1")), ("id", .string(summary.vaultID.description)),
      ("generation", .unsigned(summary.generation)),
      ("fileBytes", .unsigned(UInt64(summary.fileBytes))),
      ("snapshotBytes", .unsigned(UInt64(summary.snapshotBytes))),
      ("journalBytes", .unsigned(UInt64(summary.journalBytes))),
      ("journalEntries", .unsigned(UInt64(summary.entryCount))), ("tornTail", .bool(summary.hasTornTail)),
      ("slots", .array(summary.slots.map(Self.json))), ("groupCount", .unsigned(UInt64(summary.groupCount))),
      ("verified", .bool(verified != nil)),
    ]
    if let verified {
      members.append(("owner", .bool(verified.isOwner)))
      members.append(("frozen", .bool(verified.isFrozen)))
      members.append(
        (
          "groups",
          .array(
            verified.groups.map { group in
              .object([
                ("name", .string(group.name.text)), ("records", .unsigned(UInt64(group.recordCount))),
                ("generation", .unsigned(group.generation)), ("epoch", .unsigned(UInt64(group.epoch))),
              ])
            })
        ))
    }
    members.append(("unlockedMemoryBlocks", .unsigned(UInt64(GuardedMemory.unlockedBlocks))))
    members.append(("libsodium", .string(GuardedMemory.libraryVersion)))
    return .object(members)
  }

  private static var memory: String {
    let count = GuardedMemory.unlockedBlocks
    return count == 0
      ? "locked" : "\(count) blocks could not be locked and may reach swap; raise the limit (ulimit -l)"
  }

  private static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }

  private static func words(_ slot: VaultSummary.Slot) -> String {
    let kind =
      switch slot.kind {
      case .passphrase(let cost): "passphrase, \(cost)"
      case .rawKey: "raw key"
      case .unknown(let number): "kind \(number), of a later version"
      }
    return kind + (slot.isOwner ? ", owner" : ", one group")
  }

  private static func json(_ slot: VaultSummary.Slot) -> JSON {
    var members: [(String, JSON)] = [("id", .string(slot.id.description))]
    switch slot.kind {
    case .passphrase(let cost):
      members.append(("kind", .string("passphrase")))
      members.append(("passes", .unsigned(UInt64(cost.passes))))
      members.append(("kibibytes", .unsigned(UInt64(cost.kibibytes))))
    case .rawKey: members.append(("kind", .string("rawKey")))
    case .unknown(let number):
      members.append(("kind", .string("unknown")))
      members.append(("number", .unsigned(UInt64(number))))
    }
    members.append(("owner", .bool(slot.isOwner)))
    return .object(members)
  }
}
