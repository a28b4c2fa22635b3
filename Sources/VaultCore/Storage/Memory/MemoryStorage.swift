internal import DurableFiles
internal import Synchronization

/// A vault in memory. It ends with the last reference to this object and to the vaults that use it.
///
/// The bytes are sealed like those of a file. Several ``Vault`` objects of one process may use the same storage.
///
/// ```swift
/// let storage = MemoryStorage()
/// let vault = try Vault.create(in: storage, slots: [NewSlot(.key(key))])
/// let other = try Vault.open(in: storage, credential: .key(key))
/// ```
public final class MemoryStorage: VaultStorage {
  private final class Version: StorageVersion {}

  private struct State {
    /// `nil` if there is no vault.
    var bytes: [UInt8]?
    var version = Version()
    var isLocked = false
    /// The writers that wait, in their order.
    var waiting: [Gate<Bool>] = []
    var observers: [ObjectIdentifier: StorageObserver] = [:]
  }

  public let name: String
  private let state = Mutex(State())
  private static let count = Atomic(0)

  /// As it was given when the storage was made.
  public let auditLogs: AuditLogLocation?

  /// Creates an empty storage.
  ///
  /// - Parameter auditLogs: where reads and writes are logged; `nil` if a vault with logging is refused.
  public init(auditLogs: AuditLogLocation? = nil) {
    name = "memory:\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
    self.auditLogs = auditLogs
  }

  // MARK: Reading

  public func load(limit: Int) throws(VaultError) -> StoredVault {
    try state.withLock { (state) throws(VaultError) in
      guard let bytes = state.bytes else { throw missing }
      guard bytes.count <= limit else {
        throw error(.limitExceeded, "the vault is longer than \(limit) bytes")
      }
      return StoredVault(version: state.version, bytes: StoredBytes(bytes))
    }
  }

  public func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    try state.withLock { (state) throws(VaultError) in
      guard let bytes = state.bytes else { return .removed }
      guard position.version === state.version, position.isInside(bytes) else { return .replaced(nil) }
      if bytes.count == position.offset { return .none }
      guard bytes.count <= limit else {
        throw error(.limitExceeded, "the vault is longer than \(limit) bytes")
      }
      return .added(StoredBytes(Array(bytes[position.offset...])))
    }
  }

  private var stale: VaultError { error(.io, "the position is not in the present version") }
  private var missing: VaultError { error(.notFound, "there is no vault in this storage") }

  // MARK: Writing

  public func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage {
    let gate = Gate<Bool>()
    let isFree = try state.withLock { (state) throws(VaultError) in
      guard state.bytes != nil else { throw missing }
      if state.isLocked { state.waiting.append(gate) }
      defer { state.isLocked = true }
      return !state.isLocked
    }
    if !isFree, gate.wait(until: deadline.deadline) == nil {
      let isGranted = state.withLock { state in
        guard let place = state.waiting.firstIndex(where: { $0 === gate }) else { return true }
        state.waiting.remove(at: place)
        return false
      }
      guard isGranted else {
        throw error(.lockTimeout, "another writer has held the lock for \(deadline.timeout)")
      }
    }
    let locked = Locked(self)
    guard state.withLock({ $0.bytes != nil }) else {
      locked.release()
      throw missing
    }
    return locked
  }

  public func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
    let version = Version()
    try state.withLock { (state) throws(VaultError) in
      guard state.bytes == nil else { throw error(.alreadyExists, "there is a vault in this storage already") }
      // Of a vault that was removed, the writer may not have released its lock yet.
      guard !state.isLocked else { throw error(.lockTimeout, "a writer is removing the vault") }
      state.bytes = bytes
      state.version = version
      state.isLocked = true
    }
    return (Locked(self), version)
  }

  /// The vault, locked for one writer.
  private final class Locked: LockedStorage {
    private let storage: MemoryStorage
    private var isChanged = false
    private var isReleased = false

    init(_ storage: MemoryStorage) { self.storage = storage }

    func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
      try storage.changes(since: position, limit: limit)
    }

    func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError) {
      try storage.state.withLock { (state) throws(VaultError) in
        guard position.version === state.version, let count = state.bytes?.count, position.offset <= count else {
          throw storage.stale
        }
        state.bytes?.removeSubrange(position.offset...)
        state.bytes?.append(contentsOf: entry)
      }
      isChanged = true
    }

    func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion {
      let version = Version()
      try storage.state.withLock { (state) throws(VaultError) in
        guard position.map({ $0.version === state.version }) ?? true else { throw storage.stale }
        state.bytes = bytes
        state.version = version
      }
      isChanged = true
      return version
    }

    func remove() -> Bool {
      storage.state.withLock { $0.bytes = nil }
      isChanged = true
      return true
    }

    func release() {
      guard !isReleased else { return }
      isReleased = true
      let observers = storage.state.withLock { state -> [StorageObserver] in
        if state.waiting.isEmpty {
          state.isLocked = false
        } else {
          state.waiting.removeFirst().open(true)
        }
        return isChanged ? Array(state.observers.values) : []
      }
      for observer in observers { observer.notify() }
    }
  }

  // MARK: Observing

  public func observe(_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> StorageObservation {
    let observer = StorageObserver(notify)
    state.withLock { $0.observers[ObjectIdentifier(observer)] = observer }
    return StorageObservation { [weak self] in
      self?.state.withLock { $0.observers[ObjectIdentifier(observer)] = nil }
      observer.end()
    }
  }
}

extension VaultStorage where Self == MemoryStorage {
  /// A new storage in memory: see ``MemoryStorage``.
  public static func memory() -> MemoryStorage { MemoryStorage() }
}
