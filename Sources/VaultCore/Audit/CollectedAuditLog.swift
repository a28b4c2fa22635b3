internal import DurableFiles
public import VaultSealing

/// What a machine has delivered of its log of an access group.
public struct CollectedAuditLog: Sendable {
  /// A random id of the log on its machine. A machine that lost its log has another one from then on.
  public let machine: String
  /// Whether it is the log of this machine.
  public let isOwn: Bool
  /// The slot that wrote the newest event: if each machine has a slot of its own, it names the machine.
  public let slot: Vault.Identifier?
  /// The number of the newest event that was delivered; zero if none verifies.
  public let lastNumber: UInt64
  /// When it was logged, by the clock of the machine, in milliseconds since 1970-01-01 UTC; `nil` without one. What the
  /// machine has logged later is not here.
  public let lastTime: Int64?
  /// When something was last delivered, by the clock of the collection, in milliseconds since 1970-01-01 UTC.
  public let delivered: Int64
  /// What was found.
  public let report: AuditReport
}

extension Vault {
  /// Reads and verifies the logs of an access group that all machines have delivered.
  ///
  /// What was changed, removed or reordered before the newest event that a machine has delivered is found. That a place
  /// keeps back the newest ones is not: ``CollectedAuditLog/lastNumber`` says up to where each log is here. The log of
  /// this machine is read by `readAuditLog(of:_:)`.
  ///
  /// - Parameter body: receives each event that verifies with the id of the log on its machine: the oldest of a machine
  ///   first, and one machine after the other.
  /// - Returns: the logs, in the order of their ids; `nil` if the storage collects none.
  /// - Throws: ``VaultError/Code/groupNotGranted``, ``VaultError/Code/locked``; ``VaultError/Code/unreachable``, and
  ///   other codes of the collection. Faults of a log are in its report.
  public func readCollectedAuditLogs(
    of group: AccessGroup, _ body: (_ machine: String, AuditEvent) -> Void = { _, _ in }
  ) throws(VaultError) -> [CollectedAuditLog]? {
    try handle.forkGuard.check()
    guard let collection = handle.storage.auditCollection else { return nil }
    let own = hasAuditLogs ? try handle.auditLog(of: group.id).files.deliveryID() : nil
    let files = Dictionary(grouping: try collection.files(of: group.id), by: \.machine)
    // Later than the list, so that the vault has the key of every event in it.
    try refresh()
    let sealer = try Sealer(random: options.random)
    let keys = try handle.withCurrent { (_, state) throws(VaultError) in
      try AuditKeys(try state.content(group.id), sealer)
    }
    var logs: [CollectedAuditLog] = []
    for (machine, files) in files.sorted(by: { $0.key < $1.key }) {
      var last: AuditEvent?
      var examination = AuditExamination(keys, sealer, marked: nil)
      let ordered = files.sorted { $0.number < $1.number }
      for (index, file) in ordered.enumerated() {
        let bytes: [UInt8]
        do throws(VaultError) { bytes = try collection.bytes(of: file) } catch {
          guard error.code == .limitExceeded else { throw error }
          examination.skip("file \(file.number) of the log \(file.log)", error)
          continue
        }
        let copy = try Descriptor.sealed(bytes.bytes, named: "audit-log") { .io("make room for a log", $0) }
        let header = Array(bytes.prefix(AuditHeader.byteCount))
        try examination.read(
          copy, size: bytes.count, header: header.bytes, isFirst: index == 0, isCurrent: index == ordered.count - 1
        ) { event in
          last = event
          body(machine, event)
        }
      }
      logs.append(
        CollectedAuditLog(
          machine: machine, isOwn: machine == own, slot: last?.slot, lastNumber: last?.number ?? 0,
          lastTime: last?.time, delivered: files.map(\.delivered).max() ?? 0,
          report: examination.report(isMissing: false, isOff: false, isOther: false, isOfOneMachine: true)))
    }
    return logs
  }

  /// The asynchronous form of `readCollectedAuditLogs(of:_:)`. Cancelling the task does not stop it.
  public func readCollectedAuditLogs(
    of group: AccessGroup, _ body: @Sendable (_ machine: String, AuditEvent) -> Void = { _, _ in }
  ) async throws(VaultError) -> [CollectedAuditLog]? {
    try await waiting.run { () throws(VaultError) in try readCollectedAuditLogs(of: group, body) }
  }
}
