internal import Glibc
internal import VaultSealing

extension Vault {
  /// Copies the vault to `path`, where nothing may be yet. The copy was verified with this handle's keys before it has
  /// a name, is 0600, and is durable when this returns. Others may go on writing: the copy is one consistent state.
  ///
  /// A backup opens with the credentials of now, also after they are changed or removed here.
  /// - Throws: ``VaultError/Code/alreadyExists``, ``VaultError/Code/insecurePermissions``, what verifying and writing
  ///   can throw.
  public func backUp(to path: String) throws(VaultError) {
    let state = try freshState()
    _ = try state.verify()
    let destination = try VaultPath(path, policy: options.pathPolicy)
    try destination.prepareNew()
    let copy = try state.copy()
    FileLock.release(try Replacement(path: destination, timeout: options.lockTimeout).create(copy).descriptor)
  }

  /// Puts a backup where the vault is to be: verified with `credential` first, durable when this returns. The backup
  /// stays as it is. Handles that others have open take the restored vault over; with a mark they refuse it until
  /// ``acceptMark(at:)`` is called.
  ///
  /// - Parameter replacing: whether a file of the same vault may be replaced, which loses what was written since the
  ///   backup. Nothing else is ever replaced.
  /// - Returns: what was verified.
  /// - Throws: ``VaultError/Code/alreadyExists`` when something is at `path` that may not be replaced; what verifying
  ///   and writing can throw.
  @discardableResult
  public static func restore(
    _ backup: String, to path: String, credential: Vault.Credential, replacing: Bool = false,
    options: Options = Options()
  ) throws(VaultError) -> VerificationReport {
    let sealer = try Sealer(random: options.random)
    let state = try VaultState.load(
      path: try VaultPath(backup, policy: options.pathPolicy), options: options, sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try Unlocked(snapshot, with: credential, sealer: sealer) }
    let report = try state.verify()
    let copy = try state.copy()
    let target = try VaultPath(path, policy: options.pathPolicy)
    if let source = state.file?.identity { try target.refuseSource(source) }
    if try target.status() == nil {
      try target.prepareNew()
      FileLock.release(try Replacement(path: target, timeout: options.lockTimeout).create(copy).descriptor)
    } else {
      guard replacing else { throw target.exists }
      try target.replace(with: copy, ofVault: state.snapshot.vaultID, options: options)
    }
    return report
  }
}

extension VaultState {
  /// The bytes of the file without a torn tail, which no reader takes, and with a reserve.
  fileprivate func copy() throws(VaultError) -> [UInt8] {
    guard let image else { throw VaultError(.locked, "a copy needs the loaded file") }
    return Array(image.bytes[..<tail]) + [UInt8](repeating: 0, count: options.reserveBytes)
  }
}

extension VaultPath {
  /// Replaces a file of the same vault, whatever state it is in.
  fileprivate func replace(
    with bytes: [UInt8], ofVault vaultID: Vault.Identifier, options: Vault.Options
  ) throws(VaultError) {
    _ = try open(limits: options.limits)
    let lock = WriterLock(self, timeout: options.lockTimeout)
    let (file, status) = try lock.acquire()
    defer { lock.release() }
    // Also a damaged vault says whose it is; what says nothing of the kind is somebody's other file.
    let head = try FileImage(file, 0..<Snapshot.headerCount, limit: Snapshot.headerCount)
    let magic = Snapshot.magic
    let isSame = withExtendedLifetime(head) {
      head.count == Snapshot.headerCount && head.bytes.prefix(magic.count).elementsEqual(magic)
        && Vault.Identifier(head.span, at: 16) == vaultID
    }
    guard isSame else {
      throw error(.alreadyExists, "something else than an earlier or later state of this vault is there")
    }
    lock.pass(
      to: try Replacement(path: self, timeout: options.lockTimeout).replace(status, with: bytes).descriptor)
  }
}
