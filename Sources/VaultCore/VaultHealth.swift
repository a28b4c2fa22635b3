/// Whether the secrets of a vault can be read: see ``Vault/health()``.
///
/// The description is one word, with the code of a failure, such as `failing: tampered`. It can be shown to anyone.
public enum VaultHealth: Sendable, CustomStringConvertible {
  /// The file opens with the vault's key, and every granted access group was verified.
  case ready(VaultStatus)
  /// As ``ready(_:)``, but a log has this problem: what is read is not logged (fail-open), or will soon be refused
  /// because the disk is nearly full (fail-closed), or another process keeps its lock; or the storage cannot be
  /// reached, and the state is as old as ``Vault/age`` says; or the logs of this machine cannot be delivered.
  case degraded(VaultStatus, VaultError)
  /// The vault was locked by ``Vault/lock()`` or a limit of its options, or opened before this process was forked.
  case locked
  /// The vault is unlocked and its present file cannot be read, for example because it was removed, or because its
  /// slots were changed; or reads are refused, because they cannot be logged (fail-closed).
  case failing(VaultError)

  /// The state of the vault, if secrets can be read.
  public var status: VaultStatus? {
    switch self {
    case .ready(let status), .degraded(let status, _): status
    case .locked, .failing: nil
    }
  }

  /// Whether secrets can be read.
  public var isReady: Bool { status != nil }

  public var description: String {
    switch self {
    case .ready: "ready"
    case .degraded(_, let error): "degraded: \(error.code.rawValue)"
    case .locked: "locked"
    case .failing(let error): "failing: \(error.code.rawValue)"
    }
  }
}

extension Vault {
  /// Checks whether secrets can be read now: for a health check that is called every few seconds.
  ///
  /// Looks for the file at its path, loads what other processes wrote since, and verifies every granted access group
  /// that was not verified before. If nothing has changed, this makes two system calls. It does not count as a use
  /// for the idle limit. If reads are logged, each log is opened, locked for a moment, and checked for space for
  /// further events, without an event.
  ///
  /// Single values are not checked, because each is verified when it is opened. Whether a write would succeed is not
  /// checked either. If ``VaultStatus/isFrozen`` is set, the vault is ready but later changes are not seen.
  public func health() -> VaultHealth {
    do throws(VaultError) {
      let status = try handle.withCurrent(isUse: false) { (_, state) throws(VaultError) in try state.status() }
      let problems = try auditProblems(isUse: false)
      if let refusal = problems.first(where: \.isRefusal) { return .failing(refusal.error) }
      let problem = problems.first?.error ?? handle.storage.problem ?? handle.deliveryProblem
      return problem.map { .degraded(status, $0) } ?? .ready(status)
    } catch { return error.code == .locked ? .locked : .failing(error) }
  }
}
