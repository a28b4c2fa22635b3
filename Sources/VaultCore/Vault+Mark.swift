internal import VaultSealing

extension Vault {
  /// Where the vault stands now: what a mark of it would hold. Verifies every granted group.
  public func currentMark() throws(VaultError) -> RollbackMark {
    try handle.withCurrent { (_, state) throws(VaultError) in try RollbackMark(state) }
  }

  /// Why the mark could not be raised after opening, or after the last write; nil when it was, or there is none. What was
  /// written is durable all the same; an older mark proves less.
  public var markFailure: VaultError? { handle.mark?.failure }

  /// Makes a mark of the vault as it is now. For a vault that has none: ``create(at:slots:groups:options:)`` makes one
  /// by itself.
  /// - Throws: ``VaultError/Code/alreadyExists`` and what writing a file can throw.
  public func createMark(at path: String) throws(VaultError) {
    try MarkFile(path, timeout: options.lockTimeout).create(try currentMark())
  }

  /// Makes the mark say what the vault is now, whatever it said: after a backup was restored on purpose. Open the vault
  /// without ``Options/markPath`` for it.
  /// - Throws: ``VaultError/Code/markMissing`` and what writing a file can throw.
  public func acceptMark(at path: String) throws(VaultError) {
    let current = try currentMark()
    try MarkFile(path, timeout: options.lockTimeout).update { (old) throws(VaultError) in current.replacing(old) }
  }
}

extension RollbackMark {
  /// Reads the mark at `path`.
  /// - Throws: ``VaultError/Code/markMissing``, ``VaultError/Code/malformed``,
  ///   ``VaultError/Code/insecurePermissions``, ``VaultError/Code/io``.
  public init(at path: String) throws(VaultError) { self = try MarkFile(path, timeout: .zero).read() }
}
