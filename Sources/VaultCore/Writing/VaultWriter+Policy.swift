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
    let (file, _) = try lock.acquire(until: deadline)
    defer { lock.release() }
    for (index, group) in groups.enumerated() {
      do throws(VaultError) { try append(policy, to: group, file) } catch {
        guard index > 0 else { throw error }
        throw error.after("\(index) of \(groups.count) access groups have the setting")
      }
    }
  }

  private func append(
    _ policy: AuditPolicy?, to group: Vault.Identifier, _ file: Descriptor
  ) throws(VaultError) {
    let status = try file.status()
    let plan = try handle.loaded.withLock { (loaded) throws(VaultError) -> Plan in
      let (end, tornEnd) = try catchUp(&loaded, status)
      let state = try loaded.state
      try handle.mark?.check(state)
      let content = try state.content(group)
      return try self.plan(
        try content.entryBody(policy: policy), state, content, end: end, tornEnd: tornEnd, allowingLongJournal: true)
    }
    guard case .append(let append) = plan else {
      throw VaultError(.limitExceeded, "the setting needs a full write")
    }
    try self.append(append, file)
  }
}
