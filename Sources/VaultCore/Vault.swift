public import VaultSealing
// What every caller of a vault handles: its errors, which the sealing beneath it throws, too.
@_exported public import struct VaultSealing.VaultError

/// An unlocked vault: one file of sealed records, read and written by any number of threads and processes.
///
/// Reading is synchronous, takes microseconds and sees what other processes wrote. Every write is durable when it
/// returns. The keys live in guarded memory and are wiped when the last reference goes.
public final class Vault: Sendable {
  /// What a caller may choose about a vault; the defaults suit a server.
  public struct Options: Sendable {
    /// Which owners, modes and links are accepted.
    public var pathPolicy = PathPolicy.strict
    /// Lowered limits, if any.
    public var limits = Vault.Limits.format
    /// How long a write waits for other writers before ``VaultError/Code/lockTimeout``.
    public var lockTimeout = Duration.seconds(30)
    /// How many zero bytes are kept behind the journal, so that appends overwrite blocks that exist
    /// (`Docs/Format.md` 3.7). 32 KiB unless changed.
    public var reserveBytes = 32 << 10
    /// What a read of a record does whose expiry has passed.
    public var expiredRecords = ExpiryPolicy.answer
    /// The key of this machine, for values of the "this device only" classes. It stays when the vault locks, since
    /// ``Vault/Accessibility/afterFirstUnlockThisDeviceOnly`` values are read with it then; alone it opens nothing.
    public var deviceKey: SealingKey?
    /// The file of the vault's ``RollbackMark``; none when nil. Each load is checked against it, so that an older copy
    /// that was put back is refused. Every access group is then verified at each load.
    public var markPath: String?
    /// Whether opening and each write of this handle raise the mark, which costs a file replaced for each shared sync.
    /// Off where the process may only read the mark, and somebody else raises it.
    public var raisesMark = true
    /// After how long without use the vault locks by itself, as by ``Vault/lock()``; never when nil.
    public var idleLimit: Duration?
    /// After how long the vault locks by itself, however much it is used: counted from opening or the last
    /// ``Vault/unlock(with:)``; never when nil.
    public var unlockLimit: Duration?
    /// What ``idleLimit`` and ``unlockLimit`` are measured with. The default counts the time that the machine sleeps, too.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Is told how far verifying and rotating have come: every 1,000 records and at the last. Called by the thread that
    /// does the work, while it keeps other writers waiting: it must be quick and must not use the vault.
    public var progress: (@Sendable (Progress) -> Void)?
    /// Where identifiers, keys and nonces are drawn from.
    public var random = RandomSource.system
    /// Now, in milliseconds since 1970-01-01 UTC; for display only.
    public var now: @Sendable () -> Int64 = Options.systemClock

    public init() {}
  }

  let handle: VaultHandle
  let queue: WriteQueue

  var options: Options { handle.options }

  init(_ state: VaultState) throws(VaultError) {
    handle = try VaultHandle(state)
    queue = WriteQueue(VaultWriter(handle))
  }

  /// Opens the vault at `path`.
  ///
  /// Checks the whole snapshot and the frame of the journal; each access group is verified when it is first used.
  /// A missing file is never created.
  /// - Throws: ``VaultError``: ``VaultError/Code/notFound``, ``VaultError/Code/insecurePermissions``,
  ///   ``VaultError/Code/credentialRejected`` and the classes for files that are damaged or were tampered with; with a
  ///   mark ``VaultError/Code/rolledBack`` and ``VaultError/Code/markMissing``.
  public static func open(
    at path: String, credential: Vault.Credential, options: Options = Options()
  ) throws(VaultError) -> Vault {
    let path = try VaultPath(path, policy: options.pathPolicy)
    let sealer = try Sealer(random: options.random)
    let state = try MarkKeeper.checking(try MarkKeeper(options)) { () throws(VaultError) in
      try VaultState.load(path: path, options: options, sealer: sealer) { (snapshot, sealer) throws(VaultError) in
        try Unlocked(snapshot, with: credential, sealer: sealer)
      }
    }
    let vault = try Vault(state)
    vault.handle.raiseMark(loading: state)
    return vault
  }
}

/// What becomes of records whose expiry has passed, by the clock of ``Vault/Options/now``.
public enum ExpiryPolicy: Sendable, Hashable {
  /// They are read like any other; ``RecordInfo/expiry`` tells.
  case answer
  /// Reading them is refused with ``VaultError/Code/expired``.
  case refuse
}

extension Vault.Options {
  /// The system's clock.
  public static let systemClock: @Sendable () -> Int64 = { systemMilliseconds() }
}
