internal import DurableFiles
internal import Synchronization
internal import VaultSealing

/// The thread that delivers the logs of an open vault. It ends with the vault.
enum AuditDelivery {
  private static let slice = Duration.milliseconds(200)
  /// After failures, the time between two attempts grows up to this.
  private static let longest = Duration.seconds(60)

  /// Returns whether the system provided a thread.
  static func start(_ handle: VaultHandle, every interval: Duration) -> Bool {
    HelperThread.start { [weak handle] in
      var pause = interval
      while let isDelivered = handle?.deliverLogs() {
        pause = isDelivered ? interval : min(pause * 2, max(interval, longest))
        // Not all programs deliver at the same moment.
        let deadline = Deadline(after: pause * Double.random(in: 0.5...1))
        while handle != nil, deadline.remaining > .zero {
          usleep(UInt32(max(1, min(deadline.remaining, slice) / .microseconds(1))))
        }
      }
    }
  }
}

extension VaultHandle {
  /// Delivers what this handle has logged. Returns `false` after a failure.
  fileprivate func deliverLogs() -> Bool {
    guard let collection = storage.auditCollection else { return true }
    var failure: VaultError?
    for log in knownLogs where log.isUndelivered {
      do throws(VaultError) {
        // Not a use, which would keep the vault from locking.
        let keys = try withCurrent(isUse: false) { (_, state) throws(VaultError) in
          try AuditKeys(try state.content(log.group), state.sealer)
        }
        log.isUndelivered = false
        try log.deliver(keys, to: collection)
      } catch {
        log.isUndelivered = true
        // A locked vault has no keys for its logs: they are delivered once it is unlocked. Those of a group that is not
        // granted any more are delivered by other programs.
        if error.code != .locked, error.code != .groupNotGranted { failure = error }
      }
    }
    deliveryProblem = failure
    return failure == nil
  }
}

extension Vault {
  /// Whether this machine has a place for logs.
  package var hasAuditLogs: Bool { handle.storage.auditLogs != nil }
  /// Whether the logs of all machines are collected.
  package var collectsAuditLogs: Bool { handle.storage.auditCollection != nil }

  /// Delivers what this machine has logged to where the logs of all machines are collected, if the storage has such a
  /// place (``VaultStorage/auditCollection``). An open vault does so from time to time, unless the collection says that
  /// it does not.
  ///
  /// What was logged before the call is in the collection when it returns.
  ///
  /// - Throws: ``VaultError/Code/unreachable``, and other codes of the collection, with a part delivered or nothing;
  ///   ``VaultError/Code/conflict`` if others keep adding to the log; ``VaultError/Code/locked``; the code of a log
  ///   that cannot be read.
  public func deliverAuditLogs() throws(VaultError) {
    guard let collection = handle.storage.auditCollection, handle.storage.auditLogs != nil else { return }
    try refresh()
    let logged = try handle.withCurrent { (_, state) throws(VaultError) in try state.loggedKeys() }
    for keys in logged { try handle.auditLog(of: keys.groupID).deliver(keys, to: collection) }
  }

  /// The asynchronous form of `deliverAuditLogs()`. Cancelling the task does not stop it.
  public func deliverAuditLogs() async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try deliverAuditLogs() }
  }
}
