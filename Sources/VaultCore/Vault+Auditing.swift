internal import DurableFiles
internal import Synchronization
internal import VaultSealing

/// What ``Vault/setAuditing(_:limits:)`` has done.
public struct AuditChange: Sendable {
  /// The new paths of files of logs that could not be continued.
  public let setAside: [String]
  /// Whether groups that are made later have the setting, too. `false` if the disk was full: then the setting of each
  /// group was appended, and has to be repeated once there is space.
  public let isComplete: Bool
}

extension Vault {
  /// Whether reads and writes of records are logged, and what happens if they cannot be; `nil` if they are not logged.
  ///
  /// Returns what the access groups have that the credential opens. Only if these differ from each other, or there is
  /// none, it is the setting of groups that are made later.
  /// - Throws: ``VaultError/Code/locked``; the code of a group that does not verify.
  public func auditing() throws(VaultError) -> AuditPolicy? {
    let policies = try handle.withCurrent { (_, state) throws(VaultError) in
      var policies: Set<AuditPolicy?> = []
      for group in state.groups { policies.insert(try state.content(group.id).auditItem?.policy) }
      return policies
    }
    if policies.count == 1, let policy = policies.first { return policy }
    return try auditSetting()?.policy
  }

  /// When files of the logs are handed over and removed: for an owner the setting of groups that are made later, which
  /// all groups have; for a group holder that of its group. `nil` if the vault was never logged.
  public func auditLimits() throws(VaultError) -> AuditLimits? { try auditSetting()?.limits }

  private func auditSetting() throws(VaultError) -> AuditItem? {
    try handle.withCurrent { (_, state) throws(VaultError) in
      if let manifest = state.manifest { return try manifest.logSetting(isLogged: state.snapshot.isLogged) }
      guard let group = state.groups.first else { return nil }
      return try state.content(group.id).auditItem
    }
  }

  /// Switches the log of every access group on or off, or changes its settings. Durable when the method returns.
  ///
  /// Each read of a record is then logged before its value is lent, and each write before it is made, by every program
  /// that uses the vault: time, name of the record, user, process and slot, and never the value. The logs are beside
  /// the vault, one for each group, sealed for the holders of the group (`Docs/Format.md` annex F); those of a vault
  /// that is not a file are in a folder of each machine (``VaultStorage/auditLogs``). Other processes log
  /// from their next read or write on. A read then writes to a file, and may wait while other processes do so. What was
  /// logged stays readable when logging is switched off. Versions without logs cannot open the vault any more.
  ///
  /// Switching off, and fail-open, work on a full disk: see ``AuditChange/isComplete``.
  ///
  /// - Parameters:
  ///   - policy: what happens to a read or write that cannot be logged; `nil` switches logging off.
  ///   - limits: when files are handed over and removed; `nil` keeps the present limits.
  /// - Throws: ``VaultError/Code/ownerRequired``; the code of a log that cannot be written, with the setting unchanged;
  ///   ``VaultError/Code/unsupportedFeature`` if the storage has no place for logs;
  ///   ``VaultError/Code/durabilityUnknown`` if some groups have the setting, or may have it, or if none has it and a
  ///   log still says that it has.
  @discardableResult
  public func setAuditing(
    _ policy: AuditPolicy?, limits: AuditLimits? = nil
  ) throws(VaultError) -> AuditChange {
    let (groups, off, isLogged) = try handle.withCurrent { (_, state) throws(VaultError) in
      guard state.unlocked.isOwner else { throw VaultDraft.ownerRequired }
      var keys: [AuditKeys] = []
      var off: [AuditKeys] = []
      for group in state.groups {
        let content = try state.content(group.id)
        // A group without an item is off already.
        guard policy != nil || content.auditItem != nil else { continue }
        let present = try AuditKeys(content, state.sealer)
        keys.append(present)
        if content.auditItem?.policy == nil { off.append(present) }
      }
      return (keys, off, state.snapshot.isLogged)
    }
    var setAside: [String] = []
    do throws(VaultError) {
      if policy != nil {
        for keys in groups {
          try handle.auditLog(of: keys.groupID).setAsideIfRefused(
            keys, by: handle.slot(granting: keys.groupID), to: &setAside)
        }
      }
      let isComplete = try write(policy, limits, of: groups.map(\.groupID), isLogged: isLogged)
      setAside += handle.knownLogs.flatMap { $0.takeNamesSetAside() }
      return AuditChange(setAside: setAside, isComplete: isComplete)
    } catch {
      let error = handle.takeBackStarts(off, after: error)
      setAside += handle.knownLogs.flatMap { $0.takeNamesSetAside() }
      guard !setAside.isEmpty else { throw error }
      // The vault is unchanged, and the log is not.
      throw VaultError(
        error.code,
        "\(error.message); a log that could not be continued was set aside: \(setAside.joined(separator: ", "))",
        errno: error.errno, cause: error.cause)
    }
  }

  /// - Returns: whether the whole setting was written; `false` for that of each group alone.
  private func write(
    _ policy: AuditPolicy?, _ limits: AuditLimits?, of groups: [Vault.Identifier], isLogged: Bool
  ) throws(VaultError) -> Bool {
    do throws(VaultError) {
      try rewrite { (draft, _) throws(VaultError) in
        try draft.setAuditing(policy, limits)
        return nil
      }
      return true
    } catch {
      // The events were logged. A failed log, or a limit of the file, would fail again.
      guard isLogged, limits == nil, [.io, .readOnly].contains(error.code), !(error.cause is AuditRefusal) else {
        throw error
      }
      defer { handle.observerHub.withLock { $0 }?.vaultChanged() }
      guard case .failure(let failure) = queue.perform(.policy(policy, groups: groups)) else { return false }
      // Unless some groups have the setting, the first error says more.
      throw failure.code == .durabilityUnknown ? failure : error
    }
  }

  /// The asynchronous form of `setAuditing(_:limits:)`. Cancelling the task does not stop it.
  @discardableResult
  public func setAuditing(
    _ policy: AuditPolicy?, limits: AuditLimits? = nil
  ) async throws(VaultError) -> AuditChange {
    try await waiting.run { () throws(VaultError) in try setAuditing(policy, limits: limits) }
  }

  /// Reads and verifies the log of an access group, from its oldest file to the current one.
  ///
  /// Faults of the log are in the report, and do not end the reading. Changed, removed, added and reordered events are
  /// detected, and so is a log that was cut off. A complete earlier copy of the log is detected only by a mark
  /// (``Options/markPath``); without one, a log that was removed is reported as possibly moved. Of a vault that is not
  /// a file, the log of this machine is read.
  ///
  /// - Parameter body: receives each event that verifies, oldest first.
  /// - Throws: ``VaultError/Code/io`` if the disk or the directory cannot be read; ``VaultError/Code/lockTimeout``.
  public func readAuditLog(
    of group: AccessGroup, _ body: (AuditEvent) -> Void = { _ in }
  ) throws(VaultError) -> AuditReport {
    // The mark is read before the log, because other processes raise it meanwhile.
    try readAuditLog(of: group, marked: try handle.mark?.log(of: group.id), body)
  }

  /// Whether the log of a group is older than a mark, or a different one, for a handle without that mark.
  package func isAuditLog(of group: AccessGroup, behind mark: RollbackMark) throws(VaultError) -> Bool {
    try readAuditLog(of: group, marked: mark.logs[group.id]) { _ in }.findings.contains { $0.code == .behindMark }
  }

  private func readAuditLog(
    of group: AccessGroup, marked: RollbackMark.Log?, _ body: (AuditEvent) -> Void
  ) throws(VaultError) -> AuditReport {
    try handle.forkGuard.check()
    let sealer = try Sealer(random: options.random)
    var delivered: UInt64 = 0
    var attempt = 0
    while true {
      attempt += 1
      let found = try examineLog(of: group.id, sealer, marked: marked, attempt: attempt) { event in
        // A reading that begins again does not repeat what it has delivered.
        guard event.number > delivered else { return }
        delivered = event.number
        body(event)
      }
      if let found { return found }
    }
  }

  /// How often a log is read because files were handed over and removed meanwhile, or an event is sealed with a key
  /// that the vault does not have.
  private static let mostReadings = 3
  /// How often it is read because the group was rotated meanwhile.
  private static let mostReadingsByRotation = 100

  /// - Parameter attempt: the number of this reading.
  /// - Returns: `nil` if the log must be read again.
  private func examineLog(
    of group: Vault.Identifier, _ sealer: Sealer, marked: RollbackMark.Log?, attempt: Int, _ body: (AuditEvent) -> Void
  ) throws(VaultError) -> AuditReport? {
    let log = try handle.auditLog(of: group)
    let isLast = attempt >= Self.mostReadings
    let (keys, item, isOther) = try handle.withCurrent { (_, state) throws(VaultError) in
      let content = try state.content(group)
      let item = content.auditItem
      var isOther = false
      if let manifest = state.manifest {
        isOther = try manifest.logSetting(isLogged: state.snapshot.isLogged)?.policy != item?.policy
      }
      return (try AuditKeys(content, sealer), item, isOther)
    }
    let reading = try log.forReading(keys, sealer)
    var examination = AuditExamination(keys, sealer, marked: marked)
    let hasAllFiles = try log.concerningLog { () throws(VaultError) in
      var old = reading.handedOver
      if let last = old.last, let current = reading.current,
        try log.files.isEarlierState(last, of: current.file, keys, sealer)
      {
        old.removeLast()
      }
      for (index, file) in old.enumerated() {
        let open: OpenFile
        switch try log.files.opened(file.path) {
        case .file(let found): open = found
        case .refused(let error):
          examination.skip(file.path.file, error)
          continue
        case .absent:
          if isLast { continue }  // reported as missing
          return false
        }
        let image = try FileImage(open.descriptor, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
        try examination.read(
          open.descriptor, size: Int(try open.descriptor.status().st_size), header: image.span, isFirst: index == 0,
          isCurrent: false, path: file.path.file, body)
      }
      if let current = reading.current {
        try examination.read(
          current.file.descriptor, size: current.size, header: current.header.bytes, isFirst: old.isEmpty,
          isCurrent: true, body)
      } else if let refusal = reading.refusal {
        examination.skip(log.files.current.file, refusal)
      }
      return true
    }
    guard hasAllFiles else { return nil }
    if examination.needsLaterKey, attempt < Self.mostReadingsByRotation {
      let epoch = try handle.withCurrent { (_, state) throws(VaultError) in try state.content(group).epoch }
      guard isLast, epoch == keys.epoch else { return nil }
    }
    return examination.report(
      isMissing: item != nil && reading.current == nil && reading.refusal == nil,
      isOff: item?.policy == nil && reading.current != nil, isOther: isOther,
      isOfOneMachine: log.files.areOfOneMachine)
  }

  /// The asynchronous form of `readAuditLog(of:_:)`. Cancelling the task does not stop it.
  public func readAuditLog(
    of group: AccessGroup, _ body: @Sendable (AuditEvent) -> Void = { _ in }
  ) async throws(VaultError) -> AuditReport {
    try await waiting.run { () throws(VaultError) in try readAuditLog(of: group, body) }
  }

  /// Ends the current file of a group's log and begins the next one, and removes files that are older than
  /// ``AuditLimits/keptDays``. The log goes on in one chain. Needs no owner.
  /// - Throws: ``VaultError/Code/notFound`` if the group is not logged; the code of a log that cannot be written, with
  ///   the log unchanged; ``VaultError/Code/durabilityUnknown`` if the file may be handed over.
  public func handOverAuditLog(of group: AccessGroup) throws(VaultError) {
    try handle.forkGuard.check()
    let log = try handle.auditLog(of: group.id)
    let slot = handle.slot(granting: group.id)
    do throws(VaultError) {
      try handle.withPresentKeys { () throws(VaultError) in
        try presentAudit(of: group.id)
      } _: { (keys, mayBeStale) throws(VaultError) in
        try log.handOver(keys, by: slot, mayBeStale: mayBeStale)
      }
    } catch { throw error.mayBeInLog ? error.after("the file may have been handed over") : error }
  }

  /// The asynchronous form of `handOverAuditLog(of:)`. Cancelling the task does not stop it.
  public func handOverAuditLog(of group: AccessGroup) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try handOverAuditLog(of: group) }
  }

  /// Writes an event that says that a holder of the key has looked at the present findings of a group's log. Later
  /// reports have them as acknowledged; a further change of the same log is a new finding. Needs no owner.
  /// - Returns: what was acknowledged.
  /// - Throws: as ``readAuditLog(of:_:)``; the code of a log that cannot be written, with the log unchanged;
  ///   ``VaultError/Code/durabilityUnknown`` if findings are acknowledged, or may be.
  @discardableResult
  public func acknowledgeAuditLog(of group: AccessGroup) throws(VaultError) -> [AuditFinding] {
    try acknowledgeAudit(of: group).acknowledged
  }

  /// Does what `acknowledgeAuditLog(of:)` does.
  /// - Returns: what was acknowledged, as a verification behind the last event has it, and what that finds.
  package func acknowledgeAudit(
    of group: AccessGroup
  ) throws(VaultError) -> (acknowledged: [AuditFinding], report: AuditReport) {
    var known: Set<AuditFinding.ID> = []
    do throws(VaultError) {
      var report = try readAuditLog(of: group)
      // The event itself may erase an interrupted append, which then is a finding.
      for _ in 0..<3 {
        let found = report.open.filter(\.code.canBeAcknowledged)
        guard !found.isEmpty else { break }
        for start in stride(from: 0, to: found.count, by: AuditFinding.ID.most) {
          let part = found[start..<min(start + AuditFinding.ID.most, found.count)]
          try logAcknowledgement(of: part, group)
          known.formUnion(part.map(\.id))
        }
        report = try readAuditLog(of: group)
      }
      return (report.findings.filter { $0.isAcknowledged && known.contains($0.id) }, report)
    } catch {
      throw !known.isEmpty || error.mayBeInLog ? error.after("findings may have been acknowledged") : error
    }
  }

  /// Writes the event *acknowledge* of some findings.
  private func logAcknowledgement(of findings: ArraySlice<AuditFinding>, _ group: AccessGroup) throws(VaultError) {
    var item = ByteWriter()
    for finding in findings {
      item.integer(finding.id.code)
      item.integer(finding.id.first)
      item.integer(finding.id.last)
    }
    let event = AuditLog.Event(action: .acknowledge, item: (AuditBody.Tag.findings, item.bytes))
    try handle.withPresentKeys { () throws(VaultError) in
      // Fail-closed: what could not be written is not acknowledged.
      try handle.withCurrent { (_, state) throws(VaultError) in
        try AuditKeys(try state.content(group.id), state.sealer, policy: .failClosed)
      }
    } _: { (keys, mayBeStale) throws(VaultError) in
      try handle.log([event], keys, isSynced: true, mayBeStale: mayBeStale)
    }
  }

  /// The asynchronous form of `acknowledgeAuditLog(of:)`. Cancelling the task does not stop it.
  @discardableResult
  public func acknowledgeAuditLog(of group: AccessGroup) async throws(VaultError) -> [AuditFinding] {
    try await waiting.run { () throws(VaultError) in try acknowledgeAuditLog(of: group) }
  }

  /// The keys for logging, of a group that is logged.
  private func presentAudit(of group: Vault.Identifier) throws(VaultError) -> AuditKeys {
    try handle.withCurrent { (_, state) throws(VaultError) in
      guard let keys = try state.content(group).audit(state.sealer) else {
        throw VaultError(.notFound, "reads and writes of the access group are not logged")
      }
      return keys
    }
  }
}

extension RecordChange {
  /// The events to log for the change, with names as they are spelled in the file.
  ///
  /// - Parameter isRemoval: whether the change removes a record: see ``removes(_:)``.
  func events(removing isRemoval: Bool) -> [AuditLog.Event] {
    func event(_ action: AuditEvent.Action, _ address: RecordAddress) -> AuditLog.Event {
      AuditLog.Event(action: action, service: address.service.utf8, key: address.key.utf8)
    }
    return switch operation {
    case .put where earlierRemoval != nil && isRemoval: [event(.remove, address), event(.write, address)]
    case .put, .resealed: [event(.write, address)]
    case .remove: isRemoval ? [event(.remove, address)] : []
    case .edit: [event(.edit, address)]
    case .restore: [event(.restore, address)]
    case .copy(let copy): [event(.copy, copy.source), event(.write, address)]
    }
  }
}
