/// A place that keeps the bytes of a vault, such as a file.
///
/// A vault's bytes are a snapshot followed by entries (`Docs/Format.md` section 3). They only grow at their end, or are
/// replaced as a whole: then there is a new *version*. A storage keeps them, has one writer at a time, and knows
/// nothing of their meaning. It sees sealed bytes only, and **nothing that it returns is trusted**: bytes that were
/// changed, cut off, reordered or repeated are refused as on a disk, and an older state is noticed with a mark.
///
///     reader                              writer
///     load: version 1, 900 bytes
///                                         lock
///                                         changes since 900: none
///                                         append at 900
///                                         release
///     changes since 900: added(200)
///                                         lock, replace: version 2, release
///     changes since 1,100: replaced
///     load: version 2, unless that came with the changes
///
/// Readers take no lock. Every method may be called by several threads at a time, and may block, except
/// ``changes(since:limit:)``, which every read calls: it must be quick and must not wait for other machines. A storage
/// of a network lays changes ready for it on a thread of its own; then it is as old as ``age`` says, sees its own
/// writes at once, and looks now in ``refresh()``. Vaults call the methods with locks held, so a storage must not use a
/// vault.
public protocol VaultStorage: Sendable {
  /// Names the place in errors and for threads that wait for it. Different places have different names. Must not
  /// contain credentials.
  var name: String { get }

  /// Reads everything as of one moment. Zero bytes may follow, as the reserve of a file does.
  ///
  /// - Parameter limit: the greatest length. Checked before memory is allocated.
  /// - Throws: ``VaultError/Code/notFound`` if there is no vault; ``VaultError/Code/limitExceeded``;
  ///   ``VaultError/Code/io``.
  func load(limit: Int) throws(VaultError) -> StoredVault

  /// What has changed since a position that this storage has returned bytes for. Without the lock, a part of an append
  /// that is in progress may be included.
  ///
  /// - Parameter limit: the greatest length of the whole.
  /// - Throws: ``VaultError/Code/limitExceeded``; ``VaultError/Code/io``.
  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges

  /// Makes the bytes that were read durable, if their writer may not have done so yet. The default does nothing, for
  /// places where only durable bytes can be read.
  func synchronize(_ version: any StorageVersion) throws(VaultError)

  /// Waits until no other process and no other thread writes. The lock ends with the process. Once it is granted,
  /// ``load(limit:)`` and ``changes(since:limit:)`` return what is there now, also without `refresh()`.
  ///
  /// - Parameter deadline: after it the lock is tried once.
  /// - Throws: ``VaultError/Code/lockTimeout``, ``VaultError/Code/notFound``, ``VaultError/Code/readOnly``,
  ///   ``VaultError/Code/io``, with nothing locked.
  func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage

  /// Refuses a place where ``create(_:)`` would fail: called before a passphrase is stretched. The default
  /// looks whether there is anything to load.
  /// - Throws: ``VaultError/Code/alreadyExists``.
  func checkVacant() throws(VaultError)

  /// Stores a new vault where none is, durably.
  ///
  /// - Returns: the storage, locked, and the version of its bytes.
  /// - Throws: ``VaultError/Code/alreadyExists``; ``VaultError/Code/readOnly``, ``VaultError/Code/lockTimeout`` or
  ///   ``VaultError/Code/io`` with nothing stored; ``VaultError/Code/durabilityUnknown``.
  func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion)

  /// Calls `notify` after others have changed the bytes, on a thread of its own, one call at a time. It may block, and
  /// it may be called without a change. The default calls it every second.
  func observe(_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> StorageObservation

  /// Brings ``changes(since:limit:)`` and ``load(limit:)`` up to date, if they return what was known a moment ago. The
  /// default does nothing, for storages that look at the place itself.
  ///
  /// - Throws: ``VaultError/Code/unreachable``.
  func refresh() throws(VaultError)

  /// How long ago the place has confirmed what ``changes(since:limit:)`` returns. The default is zero, for storages
  /// that look at the place itself.
  var age: Duration { get }

  /// What keeps the storage from being brought up to date; `nil`, which is the default, if nothing does.
  var problem: VaultError? { get }

  /// What the storage has done, for metrics; `nil`, which is the default, if it does not count.
  var activity: StorageActivity? { get }

  /// Where this machine keeps the logs of reads and writes: always the same place. A read is logged there before its
  /// value is lent, so that it waits for no other machine. With `nil`, which is the default, reads and writes of a
  /// vault with logging are refused.
  var auditLogs: AuditLogLocation? { get }

  /// Where the logs of all machines are collected; `nil`, which is the default, if they are not.
  var auditCollection: (any AuditLogCollection)? { get }
}

extension VaultStorage {
  public func synchronize(_ version: any StorageVersion) throws(VaultError) {}

  public func checkVacant() throws(VaultError) {
    do throws(VaultError) { _ = try load(limit: 0) } catch {
      if error.code == .notFound { return }
      guard error.code == .limitExceeded else { throw error }
    }
    throw self.error(.alreadyExists, "there is a vault already")
  }

  public func observe(_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> StorageObservation {
    try .polling(notify)
  }

  public func refresh() throws(VaultError) {}
  public var age: Duration { .zero }
  public var problem: VaultError? { nil }
  public var activity: StorageActivity? { nil }
  public var auditLogs: AuditLogLocation? { nil }
  public var auditCollection: (any AuditLogCollection)? { nil }

  /// Everything as of one moment, at most as long as the limits allow, whatever the storage returns.
  ///
  /// - Parameter ready: what the storage has had at hand; `nil` to load it.
  func loadImage(
    _ limits: Vault.Limits, as ready: StoredVault? = nil
  ) throws(VaultError) -> (image: FileImage, version: any StorageVersion) {
    let stored = if let ready { ready } else { try load(limit: limits.fileBytes) }
    guard stored.bytes.image.count <= limits.fileBytes else {
      throw error(.limitExceeded, "the vault is longer than \(limits.fileBytes) bytes")
    }
    return (stored.bytes.image, stored.version)
  }

  /// Whether there is something, vault or not.
  package var isOccupied: Bool {
    get throws(VaultError) {
      do throws(VaultError) { try checkVacant() } catch {
        guard error.code == .alreadyExists else { throw error }
        return true
      }
      return false
    }
  }

  /// An error about the place, with its name.
  func error(_ code: VaultError.Code, _ text: String, errno: Int32? = nil, cause: (any Error)? = nil) -> VaultError {
    VaultError(code, "\(name): \(text)", errno: errno, cause: cause ?? ErrorSubject.storage(name))
  }
}
