internal import DurableFiles
internal import VaultSealing

extension Vault {
  /// Copies the vault to `path`, where no file may exist.
  ///
  /// The vault is verified with this handle's keys before the copy is created. The copy has mode 0600, is one
  /// consistent state even if other processes write meanwhile, and is durable when the method returns.
  ///
  /// A backup opens with the present credentials, even after they are changed or removed in the vault.
  /// - Throws: ``VaultError/Code/alreadyExists``; ``VaultError/Code/insecurePermissions`` for the directory;
  ///   ``VaultError/Code/tampered`` if the vault does not verify; ``VaultError/Code/io`` and
  ///   ``VaultError/Code/readOnly`` without a copy; ``VaultError/Code/durabilityUnknown``.
  public func backUp(to path: String) throws(VaultError) {
    let state = try freshState()
    _ = try state.verify()
    let destination = try VaultPath(path, policy: options.pathPolicy)
    try destination.prepareNew()
    let copy = try state.copy()
    try Replacement(path: destination).create(copy).descriptor.unlock()
  }

  /// The asynchronous form of `backUp(to:)`. Cancelling the task does not stop it.
  public func backUp(to path: String) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try backUp(to: path) }
  }

  /// Verifies a backup with `credential` and copies it to `path`. The copy is durable when the method returns; the
  /// backup is not changed.
  ///
  /// Open handles of any process load the restored vault at their next use. With a mark they throw
  /// ``VaultError/Code/rolledBack`` until ``acceptMark(at:)`` is called.
  ///
  /// - Parameters:
  ///   - replacing: whether a file of the same vault may be replaced. No other file is ever replaced.
  ///   - kept: the path for a copy of the replaced file, as it is, where no file may exist. Without it, everything
  ///     written since the backup is lost.
  /// - Returns: The report of the verification.
  /// - Throws: ``VaultError/Code/alreadyExists`` if the file at `path` may not be replaced; the codes of
  ///   ``open(at:credential:options:)`` for the backup; ``VaultError/Code/io``, ``VaultError/Code/readOnly`` and
  ///   ``VaultError/Code/lockTimeout`` with the file at `path` unchanged; ``VaultError/Code/durabilityUnknown``.
  @discardableResult
  public static func restore(
    _ backup: String, to path: String, credential: Vault.Credential, replacing: Bool = false,
    keepingReplacedAt kept: String? = nil, options: Options = Options()
  ) throws(VaultError) -> VerificationReport {
    try restore(try load(backup: backup, credential, options), to: path, replacing: replacing, kept, options)
  }

  private static func load(
    backup: String, _ credential: Vault.Credential, _ options: Options
  ) throws(VaultError) -> VaultState {
    try VaultState.load(
      path: try VaultPath(backup, policy: options.pathPolicy), options: options,
      sealer: try Sealer(random: options.random), mark: nil
    ) { (snapshot, sealer) throws(VaultError) in try Unlocked(snapshot, with: credential, sealer: sealer) }
  }

  private static func restore(
    _ state: VaultState, to path: String, replacing: Bool, _ kept: String?, _ options: Options
  ) throws(VaultError) -> VerificationReport {
    let report = try state.verify()
    let copy = try state.copy()
    let target = try VaultPath(path, policy: options.pathPolicy)
    if try target.status() == nil {
      try target.prepareNew()
      try Replacement(path: target).create(copy).descriptor.unlock()
    } else {
      guard replacing else { throw target.exists }
      let kept = try kept.map { (kept) throws(VaultError) in try VaultPath(kept, policy: options.pathPolicy) }
      try target.replace(with: copy, ofVault: state.snapshot.vaultID, keptAt: kept, options: options)
    }
    return report
  }

  /// The asynchronous form of `restore(_:to:credential:replacing:keepingReplacedAt:options:)`. Cancelling the task does
  /// not stop it.
  @discardableResult
  public static func restore(
    _ backup: String, to path: String, credential: Vault.Credential, replacing: Bool = false,
    keepingReplacedAt kept: String? = nil, options: Options = Options()
  ) async throws(VaultError) -> VerificationReport {
    let state = try await HelperPool.using([credential], for: path).run { () throws(VaultError) in
      try load(backup: backup, credential, options)
    }
    return try await HelperPool.waiting(for: path).run { () throws(VaultError) in
      try restore(state, to: path, replacing: replacing, kept, options)
    }
  }
}

extension VaultState {
  /// The bytes of the file up to a torn tail, followed by a reserve.
  fileprivate func copy() throws(VaultError) -> [UInt8] {
    guard let image else { throw VaultError(.locked, "a copy needs the loaded file") }
    return image[0..<tail].copy + [UInt8](repeating: 0, count: options.reserve(behind: tail))
  }
}

extension VaultPath {
  /// Replaces a file of the same vault, even if it is damaged.
  fileprivate func replace(
    with bytes: [UInt8], ofVault vaultID: Vault.Identifier, keptAt kept: VaultPath?, options: Vault.Options
  ) throws(VaultError) {
    _ = try open(limits: options.limits)
    let lock = WriterLock(self)
    let (file, status) = try lock.acquire(until: Deadline(after: options.lockTimeout))
    defer { lock.release() }
    // A damaged vault still has its id in the header. A file without it is a different file.
    guard try VaultInfo.identifier(in: file) == vaultID else {
      throw error(.alreadyExists, "the file there is not a state of this vault")
    }
    let copy = try kept.map { (kept) throws(VaultError) in
      try kept.prepareNew()
      let image = try FileImage(file, 0..<Int(status.st_size), limit: .max)
      return (path: kept.file, descriptor: try Replacement(path: kept).create(image.span.copy).descriptor)
    }
    defer { copy?.descriptor.unlock() }
    do throws(VaultError) {
      lock.pass(to: try Replacement(path: self).replace(status, with: bytes).descriptor)
    } catch {
      guard error.code != .durabilityUnknown, let copy, !copy.descriptor.discard(copy.path) else { throw error }
      throw error.after("the vault was not replaced, and a copy of it is \(copy.path)")
    }
  }
}
