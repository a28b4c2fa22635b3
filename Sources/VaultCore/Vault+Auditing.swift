internal import DurableFiles
internal import VaultSealing

extension Vault {
  /// Whether reads and writes of records are logged, and what happens if they cannot be; `nil` if they are not logged.
  ///
  /// An owner gets the setting of the vault, which also applies to new access groups. A group holder gets the setting
  /// of its group.
  /// - Throws: ``VaultError/Code/locked``; the code of a group that does not verify.
  public func auditing() throws(VaultError) -> AuditPolicy? {
    try handle.withCurrent { (_, state) throws(VaultError) in
      if let manifest = state.manifest { return try AuditItem.policy(inManifest: manifest.extensionField) }
      guard let group = state.groups.first else { return nil }
      return try state.content(group.id).auditItem?.policy
    }
  }

  /// Switches the log of every access group on or off, or changes its policy. Durable when the method returns.
  ///
  /// Each read of a record is then logged before its value is lent, and each write before it is made, by every process
  /// that uses this version: time, name of the record, user, process and slot, and never the value. The logs are beside
  /// the vault, one for each group, sealed for the holders of the group (`Docs/Format.md` annex F). Other processes log
  /// from their next read or write on. A read then writes to a file, and may wait while other processes do so. What was
  /// logged stays readable when logging is switched off.
  ///
  /// - Parameter policy: what happens to a read or write that cannot be logged; `nil` switches logging off.
  /// - Returns: the paths of logs that could not be continued. They were renamed, and new ones began.
  /// - Throws: ``VaultError/Code/ownerRequired``; the code of a log that cannot be written, with the setting unchanged.
  @discardableResult
  public func setAuditing(_ policy: AuditPolicy?) throws(VaultError) -> [String] {
    let logged = try handle.withCurrent { (_, state) throws(VaultError) in
      guard state.unlocked.isOwner else { throw VaultDraft.ownerRequired }
      var logged: [AuditKeys] = []
      for group in state.groups {
        let content = try state.content(group.id)
        guard policy != nil || content.auditItem?.policy != nil else { continue }
        // Fail-closed, so that logging is not switched on where it cannot work. It can always be switched off.
        logged.append(try AuditKeys(content, policy == nil ? .failOpen : .failClosed, state.sealer))
      }
      return logged
    }
    var setAside: [String] = []
    for keys in logged {
      let event = AuditLog.Event(action: policy == nil ? .stop : .start)
      do throws(VaultError) { _ = try handle.log([event], keys) } catch {
        guard [.tampered, .malformed].contains(error.code) else { throw error }
        if let path = try handle.auditLog(of: keys.groupID).setAside() { setAside.append(path) }
        _ = try handle.log([event], keys)
      }
    }
    try rewrite { (draft, _) throws(VaultError) in
      try draft.setAuditing(policy)
      return nil
    }
    return setAside
  }

  /// The asynchronous form of `setAuditing(_:)`. Cancelling the task does not stop it.
  @discardableResult
  public func setAuditing(_ policy: AuditPolicy?) async throws(VaultError) -> [String] {
    try await HelperPool.waiting.run { () throws(VaultError) in try setAuditing(policy) }
  }

  /// Reads and verifies the log of an access group.
  ///
  /// Faults of the log are in the report, and do not end the reading. Changed, removed, added and reordered entries are
  /// detected, and so is a log that was cut off. A complete earlier copy of the log is not detected, nor is a removed
  /// log if the setting was removed as well.
  ///
  /// - Parameter body: receives each entry that verifies, oldest first.
  /// - Throws: ``VaultError/Code/io`` or ``VaultError/Code/insecurePermissions`` if the log cannot be read;
  ///   ``VaultError/Code/lockTimeout``.
  public func readAuditLog(
    of group: AccessGroup, _ body: (AuditEntry) -> Void = { _ in }
  ) throws(VaultError) -> AuditReport {
    let sealer = try Sealer(random: options.random)
    let (keys, isLogged, differs) = try handle.withCurrent { (_, state) throws(VaultError) in
      let content = try state.content(group.id)
      let policy = content.auditItem?.policy
      let wanted = try state.manifest.map { (manifest) throws(VaultError) in
        try AuditItem.policy(inManifest: manifest.extensionField)
      }
      return (
        try AuditKeys(content, policy ?? .failClosed, sealer), policy != nil, wanted.map { $0 != policy } ?? false
      )
    }
    var report = AuditReport()
    if let (file, size, head) = try handle.auditLog(of: group.id).forReading(keys, sealer) {
      var examination = AuditExamination(file, size, keys, sealer)
      try examination.run(head, body)
      report = examination.report
    } else if isLogged {
      report.problems.append(
        AuditProblem("there is no log: it was removed, or the vault was moved without it", isCertain: false))
    }
    if differs {
      report.problems.append(
        AuditProblem("the access group has a different setting than the vault", isCertain: false))
    }
    return report
  }

  /// The asynchronous form of `readAuditLog(of:_:)`. Cancelling the task does not stop it.
  public func readAuditLog(
    of group: AccessGroup, _ body: @Sendable (AuditEntry) -> Void = { _ in }
  ) async throws(VaultError) -> AuditReport {
    try await HelperPool.waiting.run { () throws(VaultError) in try readAuditLog(of: group, body) }
  }

  /// Continues the logs of rotated groups under their new keys, so that the holder of an old key cannot add to them.
  func logRotation(of groups: [Vault.Identifier]) {
    for group in groups {
      do throws(VaultError) {
        let keys = try handle.withLoadedState { (_, state) throws(VaultError) in
          try state.content(group).audit(state.sealer)
        }
        if let keys { _ = try handle.log([AuditLog.Event(action: .rotate)], keys) }
      } catch {}  // the rotation is done; the next read or write gets the same error
    }
  }
}

extension RecordChange {
  /// The events to log for the change, with names as they are spelled in the file.
  var events: [AuditLog.Event] {
    func event(_ action: AuditEntry.Action, _ address: RecordAddress) -> AuditLog.Event {
      AuditLog.Event(action: action, service: address.service.utf8, key: address.key.utf8)
    }
    return switch operation {
    case .put where earlierRemoval != nil: [event(.remove, address), event(.write, address)]
    case .put, .copied: [event(.write, address)]
    case .remove: [event(.remove, address)]
    case .edit: [event(.edit, address)]
    case .restore: [event(.restore, address)]
    case .copy(let copy): [event(.copy, copy.source), event(.write, address)]
    }
  }
}
