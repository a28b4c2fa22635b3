internal import VaultCore

extension Vault {
  /// Returns the group with this name. Without a name, returns all groups that the credential opens, ordered by name.
  func auditedGroups(named name: String?) throws -> [AccessGroup] {
    if let name { return [try grantedGroup(name)] }
    return try groups().sorted { $0.name < $1.name }
  }
}

extension VaultError {
  /// The error of one log in a command for several, of which earlier ones were changed.
  ///
  /// - Parameter done: the groups of those.
  func concerning(_ group: AccessGroup, after done: [String]) -> VaultError {
    guard !done.isEmpty else { return self }
    return after(
      "this is the log of group \"\(displayed(group.name.text))\"; those of other groups were changed before: "
        + listed(done.map { "\"\(displayed($0))\"" }))
  }
}

extension AuditPolicy {
  static let nameOfNone = "off"

  var name: String {
    switch self {
    case .failClosed: "fail-closed"
    case .failOpen: "fail-open"
    }
  }

  var words: String { "on, \(name)" }
}

extension AuditEvent {
  func row(of group: AccessGroup) -> [String] {
    let lost = lost > 0 ? ", after \(counted(Int(clamping: lost), "lost event", "lost events"))" : ""
    return [
      Timestamp.text(of: time), "\(action)", Table.cell(group.name.text), service.map { Table.cell($0.text) } ?? "-",
      key.map { Table.cell($0.text) } ?? "-", "uid \(userID)", "pid \(processID)",
      program.isEmpty ? "-" : Table.cell(program), "slot \(slot.short)\(lost)",
    ]
  }

  func json(of group: AccessGroup) -> JSON {
    .object([
      ("group", .string(group.name.text)), ("number", .unsigned(number)), ("time", .time(time)),
      ("action", .string("\(action)")), ("service", service.map { .string($0.text) } ?? .null),
      ("key", key.map { .string($0.text) } ?? .null), ("uid", .unsigned(UInt64(userID))),
      ("pid", .integer(Int64(processID))), ("program", .string(program)), ("slot", .string(slot.description)),
      ("lost", .unsigned(lost)),
    ])
  }
}

extension AuditReport {
  func text(of group: String) -> String {
    var parts = [counted(eventCount, "event", "events")]
    let known = findings.count - open.count
    if !open.isEmpty { parts.append(counted(open.count, "finding", "findings")) }
    if known > 0 { parts.append(counted(known, "acknowledged finding", "acknowledged findings")) }
    if findings.isEmpty { parts.append("whole") }
    if lostCount > 0 { parts.append("\(counted(Int(clamping: lostCount), "event", "events")) lost") }
    return "group \(displayed(group)): \(parts.joined(separator: ", "))\n" + findings.map { "  \($0.words)\n" }.joined()
  }

  func json(of group: String) -> JSON {
    .object([
      ("group", .string(group)), ("events", .unsigned(UInt64(eventCount))), ("lost", .unsigned(lostCount)),
      ("findings", .array(findings.map(\.json))),
    ])
  }
}

extension AuditFinding {
  /// What a person reads of it.
  var words: String {
    "\(isAcknowledged ? "acknowledged, " : "")\(isCertain ? "certain" : "possible"): \(displayed(description))"
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("code", .string("\(code)")), ("first", .unsigned(events.lowerBound)), ("last", .unsigned(events.upperBound)),
      ("finding", .string(description)), ("certain", .bool(isCertain)), ("acknowledged", .bool(isAcknowledged)),
    ]
    if let file { members.append(("file", .string(file))) }
    return .object(members)
  }

  /// Throws if there are findings that no event acknowledges; `tampered` if only a change of the bytes explains one of
  /// them, and `rolledBack` if the log is older than the mark.
  static func refuse(_ findings: [AuditFinding]) throws(ToolError) {
    let open = findings.filter { !$0.isAcknowledged }
    guard !open.isEmpty else { return }
    let count = counted(open.count, "finding", "findings")
    if open.contains(where: { $0.code == .behindMark }) {
      throw ToolError(
        VaultError(.rolledBack, "\(count) in the audit logs: a log is older than the mark"),
        hint: "keep the log; \"secretprefs mark accept\" accepts it after a restore on purpose")
    }
    guard !open.contains(where: \.isCertain) else {
      throw ToolError(
        VaultError(.tampered, "\(count) in the audit logs"),
        hint: "keep the log; \"secretprefs audit verify\" lists what is wrong")
    }
    let hint =
      if open.contains(where: { $0.code == .laterKey }) {
        Hints.olderLog
      } else if open.contains(where: { $0.code == .unreadable }) {
        "move what is not a file of the log elsewhere, or repair its owner, mode and links"
      } else if open.contains(where: \.code.canBeAcknowledged) {
        "once the cause is known, \"secretprefs audit acknowledge\" records that"
      } else {
        Hints.auditLog
      }
    throw .problem("\(count) in the audit logs", hint: hint)
  }
}

extension UnreadAuditLog {
  /// What a person reads of it, in one line.
  var line: String {
    isSetAside
      ? "set aside, and not read: \(displayed(path))\n"
      : "not read, because no access group of the vault has this log: \(displayed(path))\n"
  }

  var json: JSON { .object([("path", .string(path)), ("setAside", .bool(isSetAside))]) }

  /// Throws if there is a log of no group: nothing is known of what it says. One that was set aside has a finding in
  /// the log that was begun in its place.
  static func refuse(_ logs: [UnreadAuditLog]) throws(ToolError) {
    let orphaned = logs.count { !$0.isSetAside }
    guard orphaned > 0 else { return }
    throw .problem(
      "\(counted(orphaned, "file is a log", "files are logs")) of no access group of the vault",
      hint: "an access group was removed; once its log is not needed here, move it elsewhere")
  }
}

extension AuditProblem {
  /// Warns of logs that fail or soon will.
  /// - Throws: ``ToolError`` if reads are refused now.
  static func report(_ problems: [AuditProblem], _ messages: Messages) throws(ToolError) {
    for problem in problems where !problem.isRefusal {
      messages.warn("the audit log has a problem (\(displayed(problem.error.message)))")
    }
    guard let refusal = problems.first(where: \.isRefusal) else { return }
    throw .problem(
      "reads are refused, because they cannot be logged: \(displayed(refusal.error.message))", hint: Hints.auditLog)
  }

  var json: JSON {
    .object([
      ("groupId", .string(group.description)), ("refused", .bool(isRefusal)), ("message", .string(error.message)),
    ])
  }
}
