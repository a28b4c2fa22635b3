internal import VaultCore

extension Vault {
  /// Delivers what this machine has logged, if the logs of all machines are collected. A failure is a warning.
  func deliverLogs(_ messages: Messages) {
    do throws(VaultError) { try deliverAuditLogs() } catch {
      messages.warn("what this machine has logged was not delivered (\(displayed(error.message)))")
    }
  }

  /// Reads the log of this machine; `nil` for a program that has none, and reads what machines have delivered.
  func localLog(of group: AccessGroup, _ body: (AuditEvent) -> Void = { _ in }) throws(VaultError) -> AuditReport? {
    hasAuditLogs || !collectsAuditLogs ? try readAuditLog(of: group, body) : nil
  }

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
  /// - Parameter machine: The machine that has delivered the event; `nil` for this one.
  func row(of group: AccessGroup, machine: String? = nil) -> [String] {
    let lost = lost > 0 ? ", after \(counted(Int(clamping: lost), "lost event", "lost events"))" : ""
    let place = machine.map { ", machine \(Table.cell(String($0.prefix(8))))" } ?? ""
    return [
      Timestamp.text(of: time), "\(action)", Table.cell(group.name.text), service.map { Table.cell($0.text) } ?? "-",
      key.map { Table.cell($0.text) } ?? "-", "uid \(userID)", "pid \(processID)",
      program.isEmpty ? "-" : Table.cell(program), "slot \(slot.short)\(place)\(lost)",
    ]
  }

  func json(of group: AccessGroup, machine: String? = nil) -> JSON {
    var members: [(String, JSON)] = [
      ("group", .string(group.name.text)), ("number", .unsigned(number)), ("time", .time(time)),
      ("action", .string("\(action)")), ("service", service.map { .string($0.text) } ?? .null),
      ("key", key.map { .string($0.text) } ?? .null), ("uid", .unsigned(UInt64(userID))),
      ("pid", .integer(Int64(processID))), ("program", .string(program)), ("slot", .string(slot.description)),
      ("lost", .unsigned(lost)),
    ]
    if let machine { members.append(("machine", .string(machine))) }
    return .object(members)
  }
}

extension AuditReport {
  func text(of group: String) -> String {
    "group \(displayed(group)): \(summary)\n" + findings.map { "  \($0.words)\n" }.joined()
  }

  fileprivate var summary: String {
    var parts = [counted(eventCount, "event", "events")]
    let known = findings.count - open.count
    if !open.isEmpty { parts.append(counted(open.count, "finding", "findings")) }
    if known > 0 { parts.append(counted(known, "acknowledged finding", "acknowledged findings")) }
    if findings.isEmpty { parts.append("whole") }
    if lostCount > 0 { parts.append("\(counted(Int(clamping: lostCount), "event", "events")) lost") }
    return parts.joined(separator: ", ")
  }

  fileprivate var members: [(String, JSON)] {
    [
      ("events", .unsigned(UInt64(eventCount))), ("lost", .unsigned(lostCount)),
      ("findings", .array(findings.map(\.json))),
    ]
  }
}

/// What is known of the logs of one access group.
struct GroupLogs {
  let group: String
  /// The log of this machine.
  let local: AuditReport?
  /// Those that machines have delivered; `nil` if none are collected.
  let collected: [CollectedAuditLog]?

  /// Each once: what is found in the log of this machine is found in what it has delivered, too.
  var findings: [AuditFinding] {
    let own = local?.findings ?? []
    return own
      + (collected ?? []).flatMap { log in
        log.isOwn ? log.report.findings.filter { !own.contains($0) } : log.report.findings
      }
  }

  var text: String {
    (local?.text(of: group) ?? "group \(displayed(group))\n") + (collected ?? []).map(\.text).joined()
  }

  var json: JSON {
    var members: [(String, JSON)] = [("group", .string(group))] + (local?.members ?? [])
    if let collected { members.append(("machines", .array(collected.map(\.json)))) }
    return .object(members)
  }
}

extension CollectedAuditLog {
  var title: String {
    // It is a text of the database, which is not trusted.
    "machine \(displayed(String(machine.prefix(8))))" + (isOwn ? ", this one" : "")
      + (slot.map { ", slot \($0.short)" } ?? "")
  }

  /// Up to when it is known.
  var reach: String {
    guard let lastTime else { return "nothing that was delivered can be read" }
    return "delivered up to event \(lastNumber) of \(Timestamp.text(of: lastTime)); what it logged later is not here"
  }

  fileprivate var text: String {
    "  \(title): \(report.summary), \(reach)\n" + report.findings.map { "    \($0.words)\n" }.joined()
  }

  fileprivate var json: JSON {
    .object(
      [
        ("machine", .string(machine)), ("own", .bool(isOwn)),
        ("slot", slot.map { .string($0.description) } ?? .null), ("lastEvent", .unsigned(lastNumber)),
        ("lastTime", lastTime.map { .time($0) } ?? .null), ("delivered", .time(delivered)),
      ] + report.members)
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

  /// Whether it names a handed-over file of a later key or version.
  private var isOfLaterFile: Bool { file != nil && (code == .laterKey || code == .laterVersion) }

  /// Throws if there are findings that no event acknowledges; `tampered` if only a change of the bytes explains one of
  /// them, and `rolledBack` if the log is older than the mark.
  ///
  /// - Parameter areShown: whether the command has shown the findings.
  static func refuse(_ findings: [AuditFinding], areShown: Bool = true) throws(ToolError) {
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
        hint: areShown
          ? "keep a copy of the log; once the cause is known, \"secretprefs audit acknowledge\" records that"
          : "keep the log; \"secretprefs audit verify\" lists what is wrong")
    }
    let hint =
      if open.contains(where: { $0.code == .laterKey && $0.file == nil }) {
        Hints.olderLog
      } else if open.contains(where: \.isOfLaterFile) {
        Hints.laterFile
      } else if open.contains(where: { $0.code == .unreadable }) {
        Hints.foreignLog
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
      : "not read, because no access group of the vault has a log of this name: \(displayed(path))\n"
  }

  var json: JSON { .object([("path", .string(path)), ("setAside", .bool(isSetAside))]) }

  /// Throws if there is a log of no group: nothing is known of what it says. One that was set aside has a finding in
  /// the log that was begun in its place.
  static func refuse(_ logs: [UnreadAuditLog]) throws(ToolError) {
    let orphaned = logs.count { !$0.isSetAside }
    guard orphaned > 0 else { return }
    throw .problem(
      "\(counted(orphaned, "file has", "files have")) the name of a log, and no access group of the vault has it",
      hint: "an access group was removed, or the file is a copy; once it is not needed here, move it elsewhere")
  }
}

extension AuditProblem {
  /// What to do about it.
  var hint: String { Hints.text(ofLog: error) }

  /// Warns of logs that fail or soon will.
  /// - Throws: ``ToolError`` if reads are refused now.
  static func report(_ problems: [AuditProblem], _ messages: Messages) throws(ToolError) {
    for problem in problems where !problem.isRefusal {
      messages.warn("the audit log has a problem (\(displayed(problem.error.message)))")
    }
    guard let refusal = problems.first(where: \.isRefusal) else { return }
    throw .problem(
      "reads are refused, because they cannot be logged: \(displayed(refusal.error.message))", hint: refusal.hint)
  }

  var json: JSON {
    .object([
      ("groupId", .string(group.description)), ("refused", .bool(isRefusal)), ("message", .string(error.message)),
    ])
  }
}
