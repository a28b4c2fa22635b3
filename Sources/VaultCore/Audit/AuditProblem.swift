internal import DurableFiles
public import VaultSealing

/// A log that cannot take an event, or soon cannot.
public struct AuditProblem: Sendable {
  /// The access group.
  public let group: Vault.Identifier
  /// What prevents an event, or may: ``VaultError/Code/lockTimeout`` if another process has the lock of the log.
  public let error: VaultError
  /// Whether reads and writes of the group are refused now: the log is fail-closed.
  public let isRefusal: Bool
}

extension Vault {
  /// Checks whether the log of each granted group that is logged can take an event: it opens for writing, can be
  /// continued or made, and has a reserve for when the disk is full. Extends that reserve; logs nothing, makes no file
  /// and hands none over.
  ///
  /// - Returns: one problem for each group whose log cannot, or soon cannot; none if all can.
  /// - Throws: ``VaultError/Code/locked``, and the code of a vault that cannot be read. That of a log is in its problem.
  public func auditProblems() throws(VaultError) -> [AuditProblem] { try auditProblems(isUse: true) }

  func auditProblems(isUse: Bool) throws(VaultError) -> [AuditProblem] {
    let groups = try handle.withCurrent(isUse: isUse) { (_, state) throws(VaultError) in
      var logged: [Vault.Identifier] = []
      for group in state.groups where try state.content(group.id).audit(state.sealer) != nil { logged.append(group.id) }
      return logged
    }
    var problems: [AuditProblem] = []
    for group in groups {
      if let problem = try auditProblem(of: group, isUse: isUse) { problems.append(problem) }
    }
    return problems
  }

  /// The problem of one group that is logged; `nil` if its log can take an event.
  private func auditProblem(of group: Vault.Identifier, isUse: Bool) throws(VaultError) -> AuditProblem? {
    var problem: AuditProblem?
    var isClosed = true
    do throws(VaultError) {
      try handle.withPresentKeys { () throws(VaultError) in
        try handle.withCurrent(isUse: isUse) { (_, state) throws(VaultError) in
          let content = try state.content(group)
          isClosed = content.auditItem?.policy == .failClosed
          return try AuditKeys(content, state.sealer)
        }
      } _: { (keys, mayBeStale) throws(VaultError) in
        let (outcome, warning) = try handle.auditLog(of: group).examine(keys, mayBeStale: mayBeStale)
        problem = warning.map { AuditProblem(group: group, error: $0, isRefusal: false) }
        return outcome
      }
    } catch {
      guard error.cause is AuditRefusal else { throw error }
      return AuditProblem(group: group, error: error, isRefusal: isClosed)
    }
    return problem
  }

  /// Checks whether a write of the group can be made now: waits for other writers, as a write does, and looks whether
  /// its log can take an event. Changes nothing. Whether the disk has space is not known before a write.
  ///
  /// - Throws: the code that a write would have before it changes anything, such as ``VaultError/Code/readOnly``,
  ///   ``VaultError/Code/replaced``, ``VaultError/Code/lockTimeout`` and that of a log that is fail-closed.
  package func checkWritable(_ group: AccessGroup) throws(VaultError) {
    try handle.forkGuard.check()
    try handle.storage.lock(until: LockDeadline(Deadline(after: options.lockTimeout))).release()
    let isLogged = try handle.withCurrent { (_, state) throws(VaultError) in
      try state.content(group.id).audit(state.sealer) != nil
    }
    guard isLogged, let problem = try auditProblem(of: group.id, isUse: true), problem.isRefusal else { return }
    throw problem.error
  }
}
