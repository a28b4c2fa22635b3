internal import DurableFiles
internal import Synchronization
internal import VaultSealing

/// What the readers and the writer of one ``Vault`` share: the present ``VaultState``, or what a locked vault still
/// reads.
///
/// One lock, of `loaded`, protects the state. A read holds it for the two system calls that compare the state with the
/// file, or the same of another storage, and for finding the record; what is new there is read, and a group that is
/// used for the first time is opened under it, too. It is not held while a caller uses a value, while a value is
/// opened, or while another process or a sync is waited for, with two exceptions: damage may be a write of another
/// process that has not ended. It is read again twice, 50 ms apart, and other readers and ``lock()`` wait for that. And
/// a check of all values, and an undo, open values under it, so that all are of one state.
///
/// The order of locks is: the vault's file (other handles and processes), `loaded`, the list of logs. A log's own locks
/// are taken with `loaded` free (``AuditLog``), the mark's file last. A writer takes the lock of the file first, and
/// `loaded` to plan and to apply; between the two, readers go on.
///
///     reader                          the thread that writes
///                                     locks the file
///                                     loaded: catches up, plans the entry
///     loaded: refresh, find           logs the write, if it is logged
///                                     writes the entry, syncs
///     loaded: refresh may find the
///       entry before it is synced
///                                     loaded: applies the entry, unless a reader has
///                                     unlocks the file, raises the mark
///
/// ``lock()`` and the limits replace the state by ``KeptValues``: what the classes allow, with its keys. All other keys
/// are wiped with the state, also those of snapshots that were taken from it. A use that began before ends with its own
/// reference. In a forked child every call is refused: the keys are not there, and the locks may be held forever.
final class VaultHandle: Sendable {
  struct Loaded: Sendable {
    private enum Holding: @unchecked Sendable {
      // Unchecked: accessed only under the handle's lock.
      case unlocked(VaultState)
      case locked(KeptValues)
    }

    private var holding: Holding
    /// The slots that opened the vault, by the group that they grant; `nil` for the whole vault.
    private var slots: [Vault.Identifier?: Vault.Identifier]
    /// How often the handle was unlocked.
    private(set) var unlockings = 0
    /// What opens the file that a write of this handle puts in place, if that is a different slot.
    private(set) var successor: Unlocked?
    /// The records that a write of this handle changes in the file that it puts in place.
    private var ownRecords: Set<RecordAddress> = []
    /// Whether ``VaultState/changes`` are recorded.
    private var recordsChanges = false
    private struct WeakContent { weak var content: ServiceRecords.Content? }
    /// The content of snapshots, which is wiped when the handle locks.
    private var snapshots: [WeakContent] = []
    /// Openers that no caller is using.
    fileprivate(set) var idleOpeners: [ValueOpener] = []

    init(_ state: VaultState) {
      holding = .unlocked(state)
      slots = state.unlocked.slotsByGroup
    }

    /// The slot that grants a group to this handle, or did last.
    func slot(granting group: Vault.Identifier) -> Vault.Identifier {
      slots[group] ?? slots[nil] ?? slots.values.first ?? .zero
    }

    /// The vault as it was last seen.
    /// - Throws: ``VaultError/Code/locked``.
    var state: VaultState {
      get throws(VaultError) {
        guard case .unlocked(let state) = holding else { throw Self.refusal }
        return state
      }
    }

    var isLocked: Bool { if case .locked = holding { true } else { false } }

    /// What a locked handle can still read; `nil` while it is unlocked.
    fileprivate var kept: KeptValues? { if case .locked(let kept) = holding { kept } else { nil } }

    /// Replaces the load, unless the handle was locked or unlocked with a different credential since.
    mutating func replace(_ state: VaultState, since unlocked: Unlocked) {
      guard case .unlocked(let old) = holding, old.unlocked.kek === unlocked.kek else { return }
      if var changes = old.changes {
        changes.add(from: old, to: state, except: ownRecords)
        state.changes = changes
      }
      hold(state)
    }

    /// Starts or ends the recording of what others change.
    mutating func recordChangesOfOthers(_ isRecorded: Bool) {
      recordsChanges = isRecorded
      guard case .unlocked(let state) = holding else { return }
      state.changes = isRecorded ? state.changes ?? ChangesOfOthers() : nil
    }

    /// Announces that the file will be replaced by one that `next` opens; `nil` if it was not replaced.
    ///
    /// - Parameter records: what the writes of this handle change in the new file.
    mutating func expect(_ next: Unlocked?, after unlocked: Unlocked, changing records: [RecordChange] = []) {
      guard case .unlocked(let old) = holding, old.unlocked.kek === unlocked.kek else { return }
      successor = next.flatMap { $0.kek === unlocked.kek ? nil : $0 }
      if recordsChanges { ownRecords = Set(records.map(\.address)) }
    }

    /// Unlocks, in any state.
    mutating func unlock(_ state: VaultState) {
      // Others may have written between the old load and this one.
      if recordsChanges { state.changes = .anything }
      unlockings += 1
      hold(state)
    }

    private mutating func hold(_ state: VaultState) {
      holding = .unlocked(state)
      slots = state.unlocked.slotsByGroup
      successor = nil
      ownRecords = []
    }

    mutating func lock() {
      guard case .unlocked(let state) = holding else { return }
      holding = .locked(KeptValues(state))
      successor = nil
      for snapshot in snapshots { snapshot.content?.lock() }
      snapshots = []
      idleOpeners = []
    }

    mutating func add(_ content: ServiceRecords.Content) {
      snapshots.removeAll { $0.content == nil }
      snapshots.append(WeakContent(content: content))
    }

    static let refusal = VaultError(.locked, "the vault is locked")
  }

  /// The maximum number of openers that are kept. More callers at a time make their own.
  static let mostIdleOpeners = 8

  let storage: any VaultStorage
  let options: Vault.Options
  let vaultID: Vault.Identifier
  let loaded: Mutex<Loaded>
  let forkGuard = ForkGuard()
  let mark: MarkKeeper?
  private let idleLimit: TimeLimit?
  private let unlockLimit: TimeLimit?
  let observerHub = Mutex<(any VaultObserverHub)?>(nil)
  let auditLogs = Mutex<[Vault.Identifier: AuditLog]>([:])
  let delivers = Atomic(false)
  let deliveryFailure = Mutex<VaultError?>(nil)

  init(_ state: VaultState) throws(VaultError) {
    storage = state.storage
    options = state.options
    vaultID = state.snapshot.vaultID
    mark = try MarkKeeper(state.options)
    state.dropImage()
    loaded = Mutex(Loaded(state))
    idleLimit = state.options.idleLimit.map { TimeLimit($0, clock: state.options.clock) }
    unlockLimit = state.options.unlockLimit.map { TimeLimit($0, clock: state.options.clock) }
    watch()
  }

  /// The slot that grants a group to this handle, or did last.
  func slot(granting group: Vault.Identifier) -> Vault.Identifier { loaded.withLock { $0.slot(granting: group) } }

  // MARK: Locking

  /// Also `true` in a forked child, which has none of the keys.
  var isLocked: Bool { lockIfExpired() }

  /// Does nothing in a forked child: its keys are zero, and a thread of the parent may have held the lock.
  func lock() {
    guard forkGuard.isOwn else { return }
    loaded.withLock { $0.lock() }
  }

  func unlock(_ state: VaultState) {
    state.dropImage()
    // The limits restart first, so that no later caller finds an expired one.
    idleLimit?.start()
    unlockLimit?.start()
    loaded.withLock { $0.unlock(state) }
    watch()
  }

  /// How often the handle was unlocked, for ``unlock(_:since:)``.
  var unlockings: Int {
    get throws(VaultError) {
      try forkGuard.check()
      return loaded.withLock { $0.unlockings }
    }
  }

  /// Unlocks, unless the handle is locked or was unlocked since: then nothing changes. Restarts no limit.
  ///
  /// - Returns: whether the handle has the state now.
  func unlock(_ state: VaultState, since unlockings: Int) -> Bool {
    state.dropImage()
    return loaded.withLock { loaded in
      checkLimits(&loaded, isUse: false)
      guard !loaded.isLocked, loaded.unlockings == unlockings else { return false }
      loaded.unlock(state)
      return true
    }
  }

  /// Locks the vault when a limit expires.
  private func watch() {
    idleLimit?.watch { [weak self] in self?.lockIfExpired() ?? true }
    unlockLimit?.watch { [weak self] in self?.lockIfExpired() ?? true }
  }

  /// Locks the vault if a limit is over for the keys that it has now: it may have been unlocked, or used, since a watch
  /// found the limit expired. Returns whether it is locked.
  private func lockIfExpired() -> Bool {
    guard forkGuard.isOwn else { return true }
    return loaded.withLock { loaded in
      checkLimits(&loaded, isUse: false)
      return loaded.isLocked
    }
  }

  /// If the machine slept past a limit, the keys are still in memory. This check locks the vault before any call can
  /// use them.
  private func checkLimits(_ loaded: inout Loaded, isUse: Bool) {
    if idleLimit?.isOver ?? false || unlockLimit?.isOver ?? false { return loaded.lock() }
    if isUse { idleLimit?.start() }
  }

  // MARK: Using

  /// Runs `body` on the state of the file as it is now.
  ///
  /// - Parameter isUse: whether the call restarts the idle limit.
  func withCurrent<R>(
    isUse: Bool = true, _ body: (inout Loaded, VaultState) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try forkGuard.check()
    return try loaded.withLock { (loaded) throws(VaultError) in
      checkLimits(&loaded, isUse: isUse)
      return try body(&loaded, try current(&loaded))
    }
  }

  /// Runs `body` on the state as it was last loaded, which may be older than the file: for sealing, which needs the
  /// keys but not the newest records.
  ///
  /// - Parameter isUse: whether the call restarts the idle limit.
  func withLoadedState<R>(
    isUse: Bool = true, _ body: (inout Loaded, VaultState) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try forkGuard.check()
    return try loaded.withLock { (loaded) throws(VaultError) in
      checkLimits(&loaded, isUse: isUse)
      return try body(&loaded, try loaded.state)
    }
  }

  /// Runs `body` under the lock, for ``ServiceRecords`` that were taken earlier.
  func underLock<R: Sendable>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    try forkGuard.check()
    return try loaded.withLock { (loaded) throws(VaultError) in
      checkLimits(&loaded, isUse: true)
      return try body()
    }
  }

  /// Finds a record for reading: in the present file, or, if the handle is locked or its credential does not open the
  /// file any more, among the loaded values that stay readable (`Docs/Format.md` section 7).
  ///
  /// - Parameters:
  ///   - records: the records to search instead, without access to the file.
  ///   - body: receives `nil` if there is no such record.
  func withRecord<R: Sendable>(
    _ name: borrowing RecordName, in group: Vault.Identifier, at records: ServiceRecords? = nil,
    _ body: (inout Loaded, (record: Record, cipher: ValueCipher)?) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try forkGuard.check()
    return try loaded.withLock { (loaded) throws(VaultError) in
      checkLimits(&loaded, isUse: true)
      if let records { return try body(&loaded, try records.find(name)) }
      return try body(&loaded, try find(name, in: group, &loaded))
    }
  }

  /// The record in the present file or among the values that stay readable.
  private func find(
    _ name: borrowing RecordName, in group: Vault.Identifier, _ loaded: inout Loaded
  ) throws(VaultError) -> (record: Record, cipher: ValueCipher)? {
    if let kept = loaded.kept {
      // Without the keys it is unknown whether the record exists.
      guard let found = kept.find(name, in: group) else { throw Loaded.refusal }
      return found
    }
    do throws(VaultError) { return try current(&loaded).find(name, in: group) } catch {
      // A loaded record may stay readable although the credential does not open the file any more.
      guard [.credentialRejected, .staleCredential].contains(error.code),
        let found = try loaded.state.find(name, in: group), found.record.accessibility.isReadableAfterLock
      else { throw error }
      return found
    }
  }

  /// - Throws: ``VaultError/Code/expired`` if the record's expiry has passed and the options refuse such records.
  func refuseIfExpired(_ record: Record) throws(VaultError) {
    guard options.expiredRecords == .refuse, let expiry = try record.expiry(), expiry <= options.now() else { return }
    throw VaultError(.expired, "the record's expiry has passed")
  }

  /// The class of a record as it was last loaded; `nil` if there is none.
  func accessibility(
    of name: borrowing RecordName, in group: Vault.Identifier
  ) throws(VaultError) -> Vault.Accessibility? {
    try withLoadedState { (_, state) throws(VaultError) in try state.content(group).find(name)?.accessibility }
  }

  private func current(_ loaded: inout Loaded) throws(VaultError) -> VaultState {
    let state = try loaded.state
    return switch try state.refresh() {
    case .current: state
    case .replaced(let stored): try reload(&loaded, as: stored)
    }
  }

  /// An opener for one caller, which returns it with ``release(_:)``.
  func acquireOpener(_ loaded: inout Loaded) throws(VaultError) -> ValueOpener {
    if let idle = loaded.idleOpeners.popLast() { return idle }
    return try ValueOpener(options)
  }

  /// An opener for a caller that already has the key. Available even while the handle is locked.
  func acquireOpener() throws(VaultError) -> ValueOpener {
    try forkGuard.check()
    return try loaded.withLock { (loaded) throws(VaultError) in try acquireOpener(&loaded) }
  }

  /// Keeps the opener for the next caller, unless there are enough: each has a locked page.
  func release(_ opener: ValueOpener) {
    loaded.withLock { if !$0.isLocked, $0.idleOpeners.count < Self.mostIdleOpeners { $0.idleOpeners.append(opener) } }
  }

  /// Loads the vault again with the stored key of the slot. If that fails, the old state is kept and the next use tries
  /// again.
  /// - Parameter stored: what the storage had at hand; `nil` to ask it.
  @discardableResult
  func reload(_ loaded: inout Loaded, as stored: StoredVault? = nil) throws(VaultError) -> VaultState {
    let old = try loaded.state
    let (unlocked, successor) = (old.unlocked, loaded.successor)
    let state = try VaultState.load(storage, as: stored, options: options, sealer: old.sealer, mark: mark) {
      (snapshot, sealer) throws(VaultError) in
      do throws(VaultError) { return try unlocked.reopened(in: snapshot, sealer: sealer) } catch {
        guard let successor, error.code == .credentialRejected else { throw error }
        return try successor.reopened(in: snapshot, sealer: sealer)
      }
    }
    state.dropImage()
    if let report = options.markFailure,
      let loss = (mark == nil ? state.loss(since: old) : nil) ?? old.possibleLoss
    {
      report(loss)
    }
    loaded.replace(state, since: unlocked)
    return state
  }

  /// Raises the mark to the state `seen`, which must be durable: otherwise a power failure would look like a rollback.
  /// A failure is stored for ``Vault/markFailure``, because the write itself is durable.
  func raiseMark(to seen: () throws(VaultError) -> RollbackMark) { mark?.raise(isRead: false, to: seen) }

  /// Raises the mark to a loaded state before readers receive it. The file is synced first, because its writer may not
  /// have done so yet.
  func raiseMark(loading state: VaultState) {
    mark?.raise(isRead: true) { () throws(VaultError) in
      try state.synchronize()
      return try RollbackMark(state)
    }
  }
}
