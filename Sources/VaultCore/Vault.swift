internal import DurableFiles
public import VaultSealing

/// An unlocked vault: sealed records in one file, a database or memory, read and written by any number of threads and
/// processes.
///
/// Reads are synchronous, take microseconds and see the writes of other processes. Every write is durable when it
/// returns. The keys are in guarded memory and are wiped when the last reference is released.
///
/// Every call that may wait has an `async` form, which waits for no disk and no lock on a cooperative thread or an
/// actor; in an `async` function the compiler requires this form. Only a read of a value has none: if reads are logged,
/// it waits for the lock of the log on the thread that reads, for up to ``Options/lockTimeout``
/// (`PreferencesReader.reading(_:)` makes it on a helper thread). Cancelling the task does not stop a call: it
/// completes, and returns or throws as usual. In a process, at most two calls at a time derive keys from passphrases,
/// which takes memory, and for each file at most 16 other calls wait; further calls wait for their turn. The limits do
/// not apply to ``transaction(service:in:_:)``, nor to blocking calls.
///
/// Besides the codes in its own documentation, a method that needs a key throws ``VaultError/Code/locked`` if the vault
/// is locked, and the code of a file that was damaged or tampered with. A method that writes throws
/// ``VaultError/Code/io``, ``VaultError/Code/readOnly``, ``VaultError/Code/lockTimeout``,
/// ``VaultError/Code/hardLinked`` or ``VaultError/Code/replaced`` with the vault unchanged, and
/// ``VaultError/Code/durabilityUnknown`` if the change may or may not survive a power failure.
public final class Vault: Sendable {
  /// The settings of one ``Vault`` object. The defaults suit a server.
  public struct Options: Sendable {
    /// Which owners, modes and symbolic links of the file and its directory are accepted, for a vault that is named by
    /// its path. A ``FileStorage`` has options of its own.
    public var pathPolicy = PathPolicy.strict
    /// Limits of sizes and counts. They can be lowered, not raised above the format's.
    public var limits = Vault.Limits.format
    /// How long a write waits for other writers before ``VaultError/Code/lockTimeout``.
    public var lockTimeout = Duration.seconds(30)
    /// The number of zero bytes behind the journal, so that appends overwrite blocks that exist (`Docs/Format.md` 3.7).
    /// For a vault in a file. The default is 32 KiB.
    public var reserveBytes = 32 << 10
    /// What a read does if the expiry of the record has passed. By default it returns the value all the same.
    public var expiredRecords = ExpiryPolicy.read
    /// What writes keep of the values that they replace and remove. A transaction can say otherwise:
    /// ``Transaction/keeping``.
    public var keeping = Keeping.nothing
    /// The key of this machine, for values of the "this device only" classes. By itself it opens nothing. It is kept
    /// when the vault locks, because ``Vault/Accessibility/afterFirstUnlockThisDeviceOnly`` values are then read with
    /// it.
    public var deviceKey: SealingKey?
    /// The path of the vault's ``RollbackMark``; `nil` if the vault has none. Each load is compared with the mark, and
    /// an older copy of the vault is refused as ``VaultError/Code/rolledBack``. With a mark, each load verifies every
    /// access group.
    public var markPath: String?
    /// Whether opening and each write raise the mark, which replaces one file for each sync. `false` if this process
    /// may only read the mark and a different process raises it.
    public var raisesMark = true
    /// The time without use after which the vault locks, as with ``Vault/lock()``; `nil` for no limit.
    public var idleLimit: Duration?
    /// The time after which the vault locks even while it is used, counted from opening or the last
    /// ``Vault/unlock(with:)``; `nil` for no limit.
    public var unlockLimit: Duration?
    /// The clock of ``idleLimit`` and ``unlockLimit``. The default includes the time that the machine sleeps. Called
    /// with locks held: it must not use the vault.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Receives the progress of verifications and rotations, after every 1,000 records and after the last. Called by
    /// the working thread while other writers wait: it must return quickly and must not use the vault. `nil` disables
    /// progress reporting.
    public var progress: (@Sendable (Progress) -> Void)?
    /// With ``AuditPolicy/failOpen``, receives the error if an event of an access group cannot be logged. Further
    /// errors are received only after an event was logged again. Called by the thread that reads or writes: it must not
    /// use the vault.
    public var auditFailure: (@Sendable (VaultError) -> Void)?
    /// Receives the error if opening the vault, or a read that is logged, cannot raise the mark. The mark then proves
    /// less. Further errors are received only after the mark was raised again. For writes, see ``Vault/markFailure``.
    ///
    /// Without a mark, receives ``VaultError/Code/rolledBack`` if an open vault was replaced by an older copy of
    /// itself, as by a restored backup or a database that has lost its last commits. The older copy is then used. A
    /// write that failed and was taken back can look the same.
    ///
    /// With and without a mark, receives it if a database goes on from an earlier state, as after a fail-over to a
    /// replica, so that writes that this vault has seen may be lost although there are later ones.
    /// Called by the thread that opens or reads: it must not use the vault.
    public var markFailure: (@Sendable (VaultError) -> Void)?
    /// The source of identifiers, keys and nonces. Called with locks held: it must not use the vault.
    public var random = RandomSource.system
    /// The current time in milliseconds since 1970-01-01 UTC, for the times of records and ``expiredRecords``. Called
    /// with locks held: it must not use the vault.
    public var now: @Sendable () -> Int64 = Options.systemClock
    /// How long a damaged file is left alone before it is read again; 0 for tests that damage thousands.
    var pauseBeforeRereading = Duration.milliseconds(50)

    /// Creates options with the defaults.
    public init() {}
  }

  let handle: VaultHandle
  let queue: WriteQueue

  package var options: Options { handle.options }

  init(_ state: VaultState) throws(VaultError) {
    handle = try VaultHandle(state)
    queue = WriteQueue(VaultWriter(handle))
  }

  /// Opens the vault at `path`.
  ///
  /// Checks the whole snapshot and the frame of the journal (`Docs/Format.md` section 4). Each access group is verified
  /// when it is first used. A missing file is not created: use ``create(at:slots:groups:options:)``. Blocks while a
  /// passphrase is stretched.
  ///
  /// - Throws: ``VaultError/Code/notFound``; ``VaultError/Code/insecurePermissions``;
  ///   ``VaultError/Code/credentialRejected`` if no slot opens; ``VaultError/Code/notAVault``,
  ///   ``VaultError/Code/damaged``, ``VaultError/Code/malformed`` or ``VaultError/Code/tampered`` for the file; with a
  ///   mark also ``VaultError/Code/rolledBack`` and ``VaultError/Code/markMissing``.
  public static func open(
    at path: String, credential: Vault.Credential, options: Options = Options()
  ) throws(VaultError) -> Vault {
    try open(in: FileStorage(path, options: options), credential: credential, options: options)
  }

  /// Opens the vault in a storage: like `open(at:credential:options:)`, with the errors of the storage.
  ///
  /// The mark is a file of this machine, and so are the logs of reads and writes. A vault with logging can be opened in
  /// any storage, but its records are refused as ``VaultError/Code/unsupportedFeature`` unless the storage has a place
  /// for logs (``VaultStorage/auditLogs``).
  public static func open(
    in storage: any VaultStorage, credential: Vault.Credential, options: Options = Options()
  ) throws(VaultError) -> Vault {
    let (vault, state) = try load(storage, credential: credential, options: options)
    vault.handle.raiseMark(loading: state)
    return vault
  }

  /// The asynchronous form of `open(at:credential:options:)`. Cancelling the task does not stop it.
  public static func open(
    at path: String, credential: Vault.Credential, options: Options = Options()
  ) async throws(VaultError) -> Vault {
    try await open(in: .at(path, options), credential: credential, options: options)
  }

  /// The asynchronous form of `open(in:credential:options:)`. Cancelling the task does not stop it.
  public static func open(
    in storage: any VaultStorage, credential: Vault.Credential, options: Options = Options()
  ) async throws(VaultError) -> Vault {
    let (vault, state) = try await HelperPool.using([credential], for: storage.name).run { () throws(VaultError) in
      try load(storage, credential: credential, options: options)
    }
    // Outside the deriving pool, because waiting for the lock of the mark must not delay the opening of other vaults.
    await vault.waiting.run { vault.handle.raiseMark(loading: state) }
    return vault
  }

  /// Opens the vault without raising its mark. Takes no lock.
  private static func load(
    _ storage: any VaultStorage, credential: Vault.Credential, options: Options
  ) throws(VaultError) -> (Vault, VaultState) {
    let sealer = try Sealer(random: options.random)
    let state = try VaultState.load(storage, options: options, sealer: sealer, mark: try MarkKeeper(options)) {
      (snapshot, sealer) throws(VaultError) in try Unlocked(snapshot, with: credential, sealer: sealer)
    }
    return (try Vault(state), state)
  }
}

/// What a read does if the record's expiry has passed, by ``Vault/Options/now``.
public enum ExpiryPolicy: Sendable, Hashable {
  /// The record is read like any other. ``RecordInfo/expiry`` has the time.
  case read
  /// The read throws ``VaultError/Code/expired``.
  case refuse
}

extension Vault.Options {
  /// The system's real-time clock.
  public static let systemClock: @Sendable () -> Int64 = { systemMilliseconds() }
}
