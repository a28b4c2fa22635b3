internal import Synchronization

extension VaultHandle.Loaded {
  /// The keys and policy for logging a read of a snapshot, without a system call: those that the handle has loaded. For
  /// a handle that is locked, those with which the snapshot was taken.
  func audit(of group: Vault.Identifier, or taken: AuditKeys?) throws(VaultError) -> AuditKeys? {
    guard !isLocked else { return taken }
    let state = try state
    // Before the group is looked up, because most vaults have no log.
    guard taken != nil || state.snapshot.isLogged else { return nil }
    guard state.group(group) != nil else { return taken }
    return try state.content(group).audit(state.sealer)
  }
}

/// Logging of reads and writes, for ``Vault`` and the writer.
extension VaultHandle {
  /// The log of an access group.
  /// - Throws: ``VaultError/Code/unsupportedFeature`` if the storage has no place for logs.
  func auditLog(of group: Vault.Identifier) throws(VaultError) -> AuditLog {
    guard let location = storage.auditLogs else {
      throw storage.error(
        .unsupportedFeature, "reads and writes cannot be logged: no folder of this machine is named for their logs",
        cause: ErrorSubject.logFolder)
    }
    if !delivers.load(ordering: .relaxed), let interval = storage.auditCollection?.interval,
      !delivers.exchange(true, ordering: .relaxed), !AuditDelivery.start(self, every: interval)
    {
      delivers.store(false, ordering: .relaxed)
    }
    return auditLogs.withLock { logs in
      let log = logs[group] ?? AuditLog(of: group, in: location, options, mark: mark)
      logs[group] = log
      return log
    }
  }

  /// Why logs could not be delivered last; `nil` if they could.
  var deliveryProblem: VaultError? {
    get { deliveryFailure.withLock(\.self) }
    set { deliveryFailure.withLock { $0 = newValue } }
  }

  /// The logs that were used.
  var knownLogs: [AuditLog] { auditLogs.withLock { Array($0.values) } }

  /// The files that have a name of a log of the vault, and are in no report.
  func unreadAuditLogs(groups: Set<Vault.Identifier>) throws(VaultError) -> [UnreadAuditLog] {
    guard let location = storage.auditLogs else { return [] }
    return try AuditFiles.unread(in: location, groups: groups)
  }

  /// Logs reads or writes of a group before they are made: see ``AuditLog/append(_:_:by:isSynced:mayBeStale:)``.
  func log(
    _ events: [AuditLog.Event], _ keys: AuditKeys, isSynced: Bool, mayBeStale: Bool = false
  ) throws(VaultError) -> AuditLog.Outcome {
    try auditLog(of: keys.groupID).append(
      events, keys, by: slot(granting: keys.groupID), isSynced: isSynced, mayBeStale: mayBeStale)
  }

  /// Takes back that logs were switched on, if a write has logged that and then failed.
  ///
  /// - Parameter failure: the error of the write.
  /// - Returns: the error of the write; ``VaultError/Code/durabilityUnknown`` if a log still says that it was switched
  ///   on.
  func takeBackStarts(_ groups: [AuditKeys], after failure: VaultError) -> VaultError {
    guard failure.code != .durabilityUnknown else { return failure }
    var kept: [String] = []
    for log in knownLogs {
      guard let keys = groups.first(where: { $0.groupID == log.group }) else { continue }
      do throws(VaultError) { try log.takeBackStart(keys, by: slot(granting: log.group)) } catch {
        kept.append(error.message)
      }
    }
    guard !kept.isEmpty else { return failure }
    return failure.after("a log still says that it was switched on: \(kept.joined(separator: "; "))")
  }

  /// Loads the vault again, and checks whether it has the key of this epoch of a group.
  func has(epoch: UInt32, of group: Vault.Identifier) throws(VaultError) -> Bool {
    try withCurrent { (_, state) throws(VaultError) in try state.content(group).epoch } >= epoch
  }

  /// Runs `use` with the present keys of a group, and again with newer ones while the log has a later key.
  ///
  /// - Parameter use: appends to the log. Receives whether there may be newer keys: `false` if the vault does not have
  ///   those that the log states.
  /// - Throws: ``VaultError/Code/rolledBack`` if the vault is older than its log.
  func withPresentKeys(
    _ keys: () throws(VaultError) -> AuditKeys,
    _ use: (AuditKeys, _ mayBeStale: Bool) throws(VaultError) -> AuditLog.Outcome
  ) throws(VaultError) {
    var later: UInt32 = 0
    while true {
      let present = try keys()
      let mayBeStale = present.epoch >= later
      guard case .laterKey(let epoch) = try use(present, mayBeStale) else { return }
      guard mayBeStale else { throw try auditLog(of: present.groupID).concerning(AuditAppend.rolledBack) }
      later = epoch
    }
  }
}
