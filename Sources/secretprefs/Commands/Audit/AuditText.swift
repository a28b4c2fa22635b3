internal import VaultCore

extension Vault {
  /// Returns the group with this name. Without a name, returns all groups that the credential opens, ordered by name.
  func auditedGroups(named name: String?) throws -> [AccessGroup] {
    if let name { return [try grantedGroup(name)] }
    return try groups().sorted { $0.name < $1.name }
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

extension AuditEntry {
  func row(of group: AccessGroup) -> [String] {
    let lost = lost > 0 ? ", after \(counted(Int(clamping: lost), "lost event", "lost events"))" : ""
    return [
      Timestamp.text(of: time), "\(action)", displayed(group.name.text), service.map { displayed($0.text) } ?? "-",
      key.map { displayed($0.text) } ?? "-", "uid \(userID)", "pid \(processID)",
      program.isEmpty ? "-" : displayed(program),
      "slot \(slot.short)\(lost)",
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
    let lost = lostCount > 0 ? ", \(counted(Int(clamping: lostCount), "event", "events")) lost" : ""
    let state = problems.isEmpty ? "whole" : counted(problems.count, "problem", "problems")
    return "group \(displayed(group)): \(counted(entryCount, "entry", "entries")), \(state)\(lost)\n"
      + problems.map { "  \($0.description)\n" }.joined()
  }

  func json(of group: String) -> JSON {
    .object([
      ("group", .string(group)), ("entries", .unsigned(UInt64(entryCount))), ("lost", .unsigned(lostCount)),
      (
        "problems",
        .array(
          problems.map { .object([("problem", .string($0.description)), ("certain", .bool($0.isCertain))]) })
      ),
    ])
  }
}

extension AuditProblem {
  /// Throws if there are problems; `tampered` if a crash cannot have caused one of them.
  static func refuse(_ problems: [AuditProblem]) throws(ToolError) {
    guard !problems.isEmpty else { return }
    guard problems.contains(where: \.isCertain) else { throw .problems(problems.count) }
    throw ToolError(
      VaultError(.tampered, "\(counted(problems.count, "problem", "problems")) found in the audit logs"),
      hint: "keep the log; \"secretprefs audit verify\" lists what is wrong")
  }
}
