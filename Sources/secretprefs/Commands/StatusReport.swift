internal import VaultCore
internal import VaultSealing

/// The output of `status`, as text and as JSON.
struct StatusReport {
  let location: VaultLocation
  let summary: VaultInfo
  /// What the credential could verify. `nil` without a credential.
  let verified: VaultStatus?
  /// Whether reads and writes are logged. `nil` also without a credential.
  let auditing: AuditPolicy?
  /// The logs that fail, or soon will.
  let auditProblems: [AuditProblem]
  /// Whether a mark is configured. Checking it needs a credential.
  let hasMark: Bool
  /// The error that prevented raising the mark.
  let markFailure: VaultError?
  /// Where the credential came from. `nil` without one.
  let source: CredentialSource?
  /// What `unlock` keeps for the vault.
  let kept: KeptKey?
  let settings: [EffectiveSetting]

  var text: String {
    var lines: [(String, String)] = [
      ("vault", displayed(location.name)),
      ("format", Version.format),
      ("id", summary.vaultID.description),
      ("generation", "\(summary.generation)"),
      (
        location.path == nil ? "stored" : "file",
        "\(summary.fileBytes) bytes: snapshot \(summary.snapshotBytes), journal \(summary.journalBytes)"
      ),
      (
        "journal",
        counted(summary.entryCount, "entry", "entries")
          + (summary.tornTail.map { "; \($0.words)" } ?? "")
      ),
    ]
    for slot in summary.slots { lines.append(("slot", slot.kind.words + (slot.isOwner ? ", owner" : ", one group"))) }
    if let verified {
      for group in verified.groups {
        lines.append(("group", "\(displayed(group.name.text)): \(group.words)"))
      }
      lines.append(("verified", verified.isOwner ? "everything, as an owner" : "the granted groups"))
      lines.append(("auditing", auditing?.words ?? AuditPolicy.nameOfNone))
      if verified.isFrozen { lines.append(("frozen", "the mounted file was replaced; writes are refused")) }
    } else {
      lines.append(("groups", "\(summary.groupCount); their names are sealed"))
      lines.append(("verified", "the checksum only; unlock the vault to verify more"))
    }
    if let source { lines.append(("credential", source.rawValue)) }
    if let kept {
      let end = Timestamp.text(of: kept.limits.systemEnd)
      for key in kept.key.slots {
        let slot = summary.slots.first { $0.id == key.id }
        lines.append(("unlocked", "slot \(key.id.short), \(slot?.kind.words ?? "which was removed")"))
      }
      lines.append(("until", "\(end), or \(kept.limits.idleText) after the last use"))
      lines.append(("usable by", kept.reach))
    }
    for row in Table(rows: settings.map(\.row)).lines { lines.append(("setting", row)) }
    lines.append(("mark", mark))
    lines.append(("swap", Self.memory))
    lines.append(("libsodium", GuardedMemory.libraryVersion))
    return lines.map { name, value in
      name + String(repeating: " ", count: 12 - name.count) + value + "\n"
    }.joined()
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("vault", .string(location.name)), ("format", .string(Version.format)),
      ("id", .string(summary.vaultID.description)),
      ("generation", .unsigned(summary.generation)),
      ("fileBytes", .unsigned(UInt64(summary.fileBytes))),
      ("snapshotBytes", .unsigned(UInt64(summary.snapshotBytes))),
      ("journalBytes", .unsigned(UInt64(summary.journalBytes))),
      ("journalEntries", .unsigned(UInt64(summary.entryCount))), ("tornTail", .bool(summary.hasTornTail)),
      ("slots", .array(summary.slots.map(\.json))), ("groupCount", .unsigned(UInt64(summary.groupCount))),
      ("verified", .bool(verified != nil)), ("markChecked", .bool(hasMark && verified != nil)),
      ("markRaised", .bool(hasMark && verified != nil && markFailure == nil)),
    ]
    if let limit = summary.tornTail?.entryLimit { members.append(("tornEntries", .unsigned(UInt64(limit)))) }
    if let verified {
      members.append(("owner", .bool(verified.isOwner)))
      members.append(("frozen", .bool(verified.isFrozen)))
      members.append(("auditing", .string(auditing?.name ?? AuditPolicy.nameOfNone)))
      members.append(("auditProblems", .array(auditProblems.map(\.json))))
      members.append(("groups", .array(verified.groups.map(\.json))))
    }
    if let source { members.append(("credential", .string(source.rawValue))) }
    if let kept {
      members.append(
        (
          "unlocked",
          .object([
            ("slots", kept.key.json), ("until", .time(kept.limits.systemEnd)),
            ("idleSeconds", .integer(kept.limits.idleSeconds)), ("keyring", .string(kept.keyring.rawValue)),
          ])
        ))
    }
    members.append(("settings", .array(settings.map(\.json))))
    members.append(("unlockedMemoryBlocks", .unsigned(UInt64(GuardedMemory.unlockedBlocks))))
    members.append(("libsodium", .string(GuardedMemory.libraryVersion)))
    return .object(members)
  }

  private var mark: String {
    guard hasMark else { return "none: replacement by an older copy would not be detected" }
    guard verified != nil else { return "not checked; this needs a passphrase or key" }
    let raised = markFailure.map { "could not be raised (\(displayed($0.message)))" } ?? "raised"
    return "checked: the vault is not older; \(raised)"
  }

  private static var memory: String {
    let count = GuardedMemory.unlockedBlocks
    return count == 0
      ? "secrets in memory cannot reach it"
      : "\(count) blocks of secrets could not be locked into memory; raise the limit (ulimit -l)"
  }
}
