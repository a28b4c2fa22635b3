internal import DurableFiles
internal import Synchronization
internal import VaultSealing

extension VaultWriter {
  /// Sets the policy of logs without a full write (`Docs/Format.md` F.1, change 3). The events were logged before.
  /// - Throws: ``VaultError/Code/durabilityUnknown`` also if some groups have the policy.
  func append(
    _ policy: AuditPolicy?, to groups: [Vault.Identifier], until deadline: Deadline
  ) throws(VaultError) {
    try handle.forkGuard.check()
    let locked = try storage.lock(until: LockDeadline(deadline))
    defer { locked.release() }
    for (index, group) in groups.enumerated() {
      do throws(VaultError) { try append(policy, to: group, locked) } catch {
        guard index > 0 else { throw error }
        throw error.after("\(index) of \(groups.count) access groups have the setting")
      }
    }
  }

  private func append(
    _ policy: AuditPolicy?, to group: Vault.Identifier, _ locked: any LockedStorage
  ) throws(VaultError) {
    let plan = try handle.loaded.withLock { (loaded) throws(VaultError) -> Plan in
      try catchUp(&loaded, locked)
      let state = try loaded.state
      try handle.mark?.check(state)
      let content = try state.content(group)
      return try self.plan(
        try content.entryBody(policy: policy), state, content, allowingLongJournal: true)
    }
    guard case .append(let append) = plan else {
      throw VaultError(.limitExceeded, "the setting needs a full write")
    }
    try self.append(append, locked)
  }
}
