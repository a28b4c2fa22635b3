internal import DurableFiles
internal import VaultSealing

extension Vault {
  /// Copies the vault to `path`, where no file may exist.
  ///
  /// The vault is verified with this handle's keys before the copy is created. The copy has mode 0600, is one
  /// consistent state even if other processes write meanwhile, and is durable when the method returns.
  ///
  /// A backup opens with the present credentials, even after they are changed or removed in the vault. An identity
  /// needs the ``pin()`` that the vault has now for it, also after a rotation of the vault.
  /// - Throws: ``VaultError/Code/alreadyExists``; ``VaultError/Code/insecurePermissions`` for the directory;
  ///   ``VaultError/Code/tampered`` if the vault does not verify; ``VaultError/Code/io`` and
  ///   ``VaultError/Code/readOnly`` without a copy; ``VaultError/Code/durabilityUnknown``.
  public func backUp(to path: String) throws(VaultError) {
    try backUp(to: FileStorage(path, options: options))
  }

  /// Copies the vault to a storage that has none: like `backUp(to:)` with a path.
  public func backUp(to storage: any VaultStorage) throws(VaultError) {
    let state = try freshState()
    _ = try state.verify()
    try storage.create(try state.copy()).storage.release()
  }

  /// The asynchronous form of `backUp(to:)` with a storage. Cancelling the task does not stop it.
  public func backUp(to storage: any VaultStorage) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try backUp(to: storage) }
  }

  /// Copies a vault from one storage to another that has none, without a key.
  ///
  /// What can be checked without a key is checked first: the snapshot's checksum, the frame of the journal and the
  /// rules of the slots. The bytes are the same in every storage, except for a broken last entry, which is not copied.
  /// Durable when the method returns.
  /// - Throws: the code of the first fault that is found; the errors of the storages.
  public static func copy(
    from source: any VaultStorage, to destination: any VaultStorage, options: Options = Options()
  ) throws(VaultError) {
    let (image, summary) = try VaultState.retryingDamage(options) { () throws(VaultError) in
      let image = try source.loadImage(options.limits).image
      return (image, try VaultInfo(image))
    }
    let bytes = image[0..<(summary.snapshotBytes + summary.journalBytes)].copy
    try destination.create(bytes).storage.release()
  }

  /// The asynchronous form of `copy(from:to:options:)`. Cancelling the task does not stop it.
  public static func copy(
    from source: any VaultStorage, to destination: any VaultStorage, options: Options = Options()
  ) async throws(VaultError) {
    try await HelperPool.waiting(for: source.name).run { () throws(VaultError) in
      try copy(from: source, to: destination, options: options)
    }
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
    let replaced = try kept.map { (path) throws(VaultError) in try FileStorage(path, options: options.withoutReserve) }
    return try restore(
      FileStorage(backup, options: options), to: FileStorage(path, options: options), credential: credential,
      replacing: replacing, keepingReplacedIn: replaced, options: options)
  }

  /// Verifies a backup in a storage and copies it to another: like
  /// `restore(_:to:credential:replacing:keepingReplacedAt:options:)`.
  ///
  /// - Parameters:
  ///   - replacing: whether the same vault may be replaced there.
  ///   - kept: an empty storage for the replaced bytes.
  @discardableResult
  public static func restore(
    _ backup: any VaultStorage, to storage: any VaultStorage, credential: Vault.Credential, replacing: Bool = false,
    keepingReplacedIn kept: (any VaultStorage)? = nil, options: Options = Options()
  ) throws(VaultError) -> VerificationReport {
    try restore(try load(backup: backup, credential, options), to: storage, replacing: replacing, kept, options)
  }

  private static func load(
    backup: any VaultStorage, _ credential: Vault.Credential, _ options: Options
  ) throws(VaultError) -> VaultState {
    try VaultState.load(
      backup, options: options, sealer: try Sealer(random: options.random), mark: nil
    ) { (snapshot, sealer) throws(VaultError) in try Unlocked(snapshot, with: credential, sealer: sealer) }
  }

  private static func restore(
    _ state: VaultState, to target: any VaultStorage, replacing: Bool, _ kept: (any VaultStorage)?, _ options: Options
  ) throws(VaultError) -> VerificationReport {
    let report = try state.verify()
    let copy = try state.copy()
    if replacing, try target.isOccupied {
      try target.replace(with: copy, ofVault: state.snapshot.vaultID, keptIn: kept, options: options)
    } else {
      try target.create(copy).storage.release()
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
    var replaced: (any VaultStorage)?
    if let kept { replaced = try await .at(kept, options.withoutReserve) }
    return try await restore(
      .at(backup, options), to: .at(path, options), credential: credential, replacing: replacing,
      keepingReplacedIn: replaced, options: options)
  }

  /// The asynchronous form of `restore(_:to:credential:replacing:keepingReplacedIn:options:)`. Cancelling the task does
  /// not stop it.
  @discardableResult
  public static func restore(
    _ backup: any VaultStorage, to storage: any VaultStorage, credential: Vault.Credential, replacing: Bool = false,
    keepingReplacedIn kept: (any VaultStorage)? = nil, options: Options = Options()
  ) async throws(VaultError) -> VerificationReport {
    let state = try await HelperPool.using([credential], for: storage.name).run { () throws(VaultError) in
      try load(backup: backup, credential, options)
    }
    return try await HelperPool.waiting(for: storage.name).run { () throws(VaultError) in
      try restore(state, to: storage, replacing: replacing, kept, options)
    }
  }
}

extension Vault.Options {
  /// For a copy of a file byte for byte, which has the file's own reserve.
  fileprivate var withoutReserve: Vault.Options {
    var options = self
    options.reserveBytes = 0
    return options
  }
}

extension VaultState {
  /// The bytes up to a torn tail.
  fileprivate func copy() throws(VaultError) -> [UInt8] {
    guard let image else { throw VaultError(.locked, "a copy needs the loaded file") }
    return image[0..<tail].copy
  }
}

extension VaultStorage {
  /// Replaces a vault with another state of it, even if it is damaged.
  fileprivate func replace(
    with bytes: [UInt8], ofVault vaultID: Vault.Identifier, keptIn kept: (any VaultStorage)?, options: Vault.Options
  ) throws(VaultError) {
    let locked = try lock(until: LockDeadline(Deadline(after: options.lockTimeout)))
    defer { locked.release() }
    let old = try load(limit: .max).bytes.image
    // A damaged vault still has its id in the header. Bytes without it are something else.
    guard VaultInfo.identifier(in: old) == vaultID else {
      throw error(.alreadyExists, "the file there is not a state of this vault")
    }
    let copy = try kept?.create(old.span.copy).storage
    defer { copy?.release() }
    do throws(VaultError) { _ = try locked.replace(with: bytes, behind: nil) } catch {
      guard error.code != .durabilityUnknown, let kept, let copy, !copy.remove() else { throw error }
      throw error.after("the vault was not replaced, and a copy of it is \(kept.name)")
    }
  }
}
