internal import VaultCore
internal import VaultSealing

/// Checks the groups, values, expiries and slots of an unlocked vault.
struct VaultExamination {
  private(set) var problems: [Problem] = []
  private(set) var unseen: [(part: String, reason: String)] = []
  /// Whether every granted group verifies.
  var isWhole: Bool { broken.isEmpty }

  private let vault: Vault
  private var broken: [(group: AccessGroup, error: VaultError)] = []
  private var whole: [AccessGroup] = []
  /// The number of values and kept earlier values in the groups that verify.
  private var valueCount = 0
  private var expiredCount = 0
  /// The number of values that expire soon.
  private var expiringCount = 0
  /// The keys whose rotation is not confirmed.
  private var rotations: [String] = []
  /// The keys that `run` does not pass with all others.
  private var settings: [String] = []

  /// - Throws: Errors that are not findings about the vault's contents.
  init(_ vault: Vault, _ access: VaultAccess, expiry: ExpiryRule, progress: ProgressLine?) throws(VaultError) {
    self.vault = vault
    try openGroups(access, expiry)
    let repair =
      "secretprefs list --expires-within \(expiry.option) --all-services --all-groups shows which; store new ones with "
      + "secretprefs set"
    // The vault is as it should be: only its owner knows whether the values are still needed.
    if expiredCount > 0 {
      let words = counted(expiredCount, "value has", "values have")
      problems.append(Problem(.advice, "expired", "\(words) expired", repair: repair))
    }
    if expiringCount > 0 {
      let words = counted(expiringCount, "value expires", "values expire")
      problems.append(Problem(.advice, "expiring", "\(words) within \(expiry.text)", repair: repair))
    }
    if !rotations.isEmpty {
      problems.append(
        Problem(
          .advice, "pendingRotation",
          "\(counted(rotations.count, "rotation is", "rotations are")) not confirmed: \(listed(rotations))",
          repair: "secretprefs rotate-value with --confirm, or with --revert"))
    }
    if !settings.isEmpty {
      problems.append(
        Problem(
          .advice, "settingKeys",
          "programs read the variables of these keys as settings, so \"secretprefs run\" does not pass them with all "
            + "other keys: \(listed(settings))",
          repair: "secretprefs rename, or choose the keys with --only or --env of secretprefs run"))
    }
    try openValues(progress)
    // Logs are files beside the vault.
    if access.location.path != nil { try checkLogs() }
    try checkLogging()
    try checkSlots()
  }

  private mutating func openGroups(_ access: VaultAccess, _ expiry: ExpiryRule) throws(VaultError) {
    let now = access.options.now()
    for group in try vault.groups() {
      do throws(VaultError) {
        for record in try vault.records(in: group) {
          valueCount += 1 + record.previous.count
          let name = "\(displayed(record.service.text)) \(displayed(record.key.text))"
          if VariableName.note(on: record.key.text) != nil { settings.append(name) }
          if RotationMark.isPending(in: record) { rotations.append(name) }
          if record.isExpired(at: now) {
            expiredCount += 1
          } else if expiry.isDue(record, at: now) {
            expiringCount += 1
          }
        }
        whole.append(group)
      } catch {
        guard Examination.isFinding(error) else { throw error }
        broken.append((group, error))
      }
    }
    // One repair for all groups: a write fails as long as any group in it does not verify.
    let names = broken.map(\.group.name.text)
    let dashes = names.contains { $0.hasPrefix("-") } ? "-- " : ""
    let repair = "\(Repair.emptyGroup.command) \(dashes)\(names.map(shellWord).joined(separator: " "))"
    problems += broken.map { group, error in
      Problem(
        .error, "brokenGroup", "access group \(displayed(group.name.text)): \(displayed(error.message))",
        repair: "secretprefs salvage, to recover what is readable; then \(repair)")
    }
  }

  private mutating func openValues(_ progress: ProgressLine?) throws(VaultError) {
    var (done, closed, onDevices, otherDevices) = (0, 0, 0, 0)
    for group in whole {
      try vault.openValues(in: group) { (error) throws(VaultError) in
        done += 1
        progress?.show(done, of: valueCount)
        guard let error else { return }
        switch error.code {
        case .deviceKeyMissing: onDevices += 1
        case .wrongDevice: otherDevices += 1
        default:
          guard Examination.isFinding(error) else { throw error }
          closed += 1
        }
      }
    }
    if closed > 0 {
      problems.append(
        Problem(
          .error, "brokenValue", "\(counted(closed, "value", "values")) cannot be decrypted with the group's key",
          repair: "secretprefs backup restore, or secretprefs salvage, which omits them"))
    }
    if otherDevices > 0 {
      problems.append(
        Problem(
          .warning, "wrongDevice", "\(counted(otherDevices, "value needs", "values need")) a different device key",
          repair: "store new values with secretprefs set"))
    }
    if onDevices > 0 {
      unseen.append((counted(onDevices, "value", "values"), "bound to a device key, and none is configured"))
    }
  }

  private mutating func checkLogs() throws(VaultError) {
    for group in whole {
      let name = "the audit log of access group \(displayed(group.name.text))"
      do throws(VaultError) {
        let report = try vault.readAuditLog(of: group)
        let known = report.findings.filter(\.isAcknowledged)
        if !known.isEmpty {
          problems.append(
            Problem(
              .advice, "auditLogAcknowledged",
              "\(name) has \(counted(known.count, "acknowledged finding", "acknowledged findings")), of which "
                + "\(counted(known.count(where: \.isCertain), "is", "are")) certain",
              repair: "secretprefs audit verify lists them"))
        }
        let found = report.open
        guard !found.isEmpty else { continue }
        problems.append(
          Problem(
            found.contains { $0.isCertain || $0.code == .behindMark } ? .error : .warning, "auditLog",
            "\(name) has \(counted(found.count, "finding", "findings"))",
            repair: "secretprefs audit verify lists them"))
      } catch { unseen.append((name, displayed(error.message))) }
    }
    do throws(VaultError) {
      problems += try vault.unreadAuditLogs().map { log in
        Problem(
          log.isSetAside ? .advice : .warning, log.isSetAside ? "auditLogSetAside" : "auditLogOfNoGroup",
          log.isSetAside
            ? "\(displayed(log.path)) is an audit log that was set aside; no command reads it"
            : "\(displayed(log.path)) has the name of an audit log, and no access group of the vault has it",
          repair: "move it elsewhere once it is not needed here")
      }
    } catch { unseen.append(("audit logs that no access group has", displayed(error.message))) }
  }

  private mutating func checkLogging() throws(VaultError) {
    guard broken.isEmpty else { return }
    for problem in try vault.auditProblems() {
      problems.append(
        Problem(
          problem.isRefusal ? .error : .warning, "auditLogFails",
          problem.isRefusal
            ? "reads are refused, because they cannot be logged: \(displayed(problem.error.message))"
            : "the audit log has a problem: \(displayed(problem.error.message))",
          repair: problem.hint))
    }
  }

  private mutating func checkSlots() throws(VaultError) {
    let slots: [SlotInfo]
    do throws(VaultError) { slots = try vault.slots() } catch {
      guard error.code == .ownerRequired else { throw error }
      return unseen.append(("slots and other groups", "only an owner can read them"))
    }
    for slot in slots where slot.isStale {
      let group = slot.group.map { "for access group \(displayed($0.text)), whose key was rotated" }
      problems.append(
        Problem(
          .warning, "staleSlot",
          "slot \(slot.id.short) opens nothing: it is \(group ?? "for a group that was removed")",
          repair: "secretprefs slots remove \(slot.id.short)"))
    }
  }
}
