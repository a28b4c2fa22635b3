internal import DurableFiles
internal import VaultSealing

extension Vault {
  /// Returns the content of a mark for the present state of the vault and its logs, which is on the disk then. Verifies
  /// every granted group. A log that cannot be continued has no line.
  /// - Throws: the code of the first fault that is found.
  public func currentMark() throws(VaultError) -> RollbackMark {
    let (mark, logged, version) = try handle.withCurrent { (_, state) throws(VaultError) in
      (try RollbackMark(state), try state.loggedKeys(), state.version)
    }
    // Its writer may not have synced it yet, and a mark must not name what a power failure takes away (annex B).
    if let version { try handle.storage.synchronize(version) }
    var logs: [Vault.Identifier: RollbackMark.Log] = [:]
    for keys in logged { logs[keys.groupID] = try handle.auditLog(of: keys.groupID).newest(keys) }
    return mark.with(logs)
  }

  /// The error that prevented raising the mark after opening or after the last write; `nil` if the mark was raised or
  /// there is none. The write itself is durable. Until the mark is raised, it does not detect the loss of the newest
  /// writes.
  public var markFailure: VaultError? { handle.mark?.failure }

  /// Creates a mark for the present state of a vault that has none. ``create(at:slots:groups:options:)`` creates the
  /// mark of a new vault.
  /// - Throws: ``VaultError/Code/alreadyExists``; ``VaultError/Code/io``, ``VaultError/Code/readOnly`` or
  ///   ``VaultError/Code/insecurePermissions`` for the mark's path; the code of a group that does not verify.
  public func createMark(at path: String) throws(VaultError) {
    try MarkFile(path, timeout: options.lockTimeout).create(try currentMark())
  }

  /// The asynchronous form of `createMark(at:)`. Cancelling the task does not stop it.
  public func createMark(at path: String) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try createMark(at: path) }
  }

  /// Replaces the content of the mark by the present state of the vault, for use after a backup was restored on
  /// purpose. Open the vault without ``Options/markPath``.
  /// - Throws: ``VaultError/Code/markMissing``; ``VaultError/Code/io``, ``VaultError/Code/readOnly`` or
  ///   ``VaultError/Code/insecurePermissions`` for the mark's path; the code of a group that does not verify.
  public func acceptMark(at path: String) throws(VaultError) {
    let current = try currentMark()
    try MarkFile(path, timeout: options.lockTimeout).update { (old) throws(VaultError) in current.replacing(old) }
  }

  /// The asynchronous form of `acceptMark(at:)`. Cancelling the task does not stop it.
  public func acceptMark(at path: String) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try acceptMark(at: path) }
  }

  /// Makes a full write with generations above those of `other`, which is the state of a different copy of the vault.
  /// Writes nothing if they are above it already, or if the states are the same.
  ///
  /// The vault is then no older copy for who has seen either, and the revisions of later writes are above those of
  /// both. Whatever only the other copy has is not in it.
  /// - Throws: ``VaultError/Code/ownerRequired``; ``VaultError/Code/limitExceeded`` if no generation is left; the codes
  ///   of ``compact()``.
  package func raise(above other: RollbackMark) throws(VaultError) {
    guard try !currentMark().isAbove(other) else { return }
    try rewrite { (draft, _) throws(VaultError) in
      try draft.raise(above: other)
      return nil
    }
  }
}

extension RollbackMark {
  /// Whether each line that differs from that of `other` has a higher generation, whatever its epoch.
  fileprivate func isAbove(_ other: RollbackMark) -> Bool {
    guard ownerWrite == other.ownerWrite || ownerWrite?.generation ?? 0 > other.ownerWrite?.generation ?? 0 else {
      return false
    }
    return groups.allSatisfy { id, group in
      other.groups[id].map { $0 == group || $0.generation < group.generation } ?? true
    }
  }

  /// Reads the mark at `path`.
  /// - Throws: ``VaultError/Code/markMissing``, ``VaultError/Code/malformed``,
  ///   ``VaultError/Code/insecurePermissions``, ``VaultError/Code/io``.
  public init(at path: String) throws(VaultError) { self = try MarkFile(path, timeout: .zero).read() }
}

extension VaultState {
  /// The keys of the granted groups that have a log.
  func loggedKeys() throws(VaultError) -> [AuditKeys] {
    var keys: [AuditKeys] = []
    for group in groups {
      let content = try content(group.id)
      if content.auditItem != nil { keys.append(try AuditKeys(content, sealer)) }
    }
    return keys
  }
}
