import DurableFiles
import SecretsTesting
import Synchronization
import VaultCore

/// A storage in memory with one fault.
final class FaultyStorage: VaultStorage {
  /// What is wrong, and the beginning of the rule that forbids it.
  enum Fault: String, CaseIterable, Sendable {
    case locksNothing = "an empty storage has no vault"
    case createsTwice = "what was created"
    case losesAppends = "entries are found"
    case hasNoStart = "from the start of a version"
    case appendsAtItsEnd = "what is behind the position"
    case showsWritersNothing = "a writer finds every byte"
    case comparesNoBytes = "a position whose bytes"
    case readsBeyondTheLimit = "more than the limit"
    case keepsItsVersion = "a replacement is a new version"
    case appendsAnywhere = "nothing is appended"
    case endsWithAReplacement = "a writer can go on"
    case removesNothing = "a vault that was removed"
    case replacesInParts = "a reader finds the old or the new"
    case appendsAnew = "a reader finds every entry"
    case hasTwoWriters = "there is one writer"
    case createsUnlocked = "a storage that was just created"
    case endsWaits = "a writer that waits"
    case forgetsOneOfTwo = "no append of several writers"
    case notifiesNone = "an observer is notified"
    case losesReplacements = "a vault can be used"
    case losesSecondReplacements = "several vault objects"
    case losesTenthAppends = "vault objects that write at the same time"
    case createsWithoutEnd = "a vault is backed up"
    case losesWritesAfterOthers = "a vault whose answers are lost"
    case losesThirdAppends = "a vault that a storage has changed"
    case hidesReplacements = "an open vault refuses"
    case losesFirstAppends = "a vault that a storage has put back"

    func isFound(by rule: StorageRule) -> Bool { rule.title.hasPrefix(rawValue) }
  }

  private final class Version: StorageVersion {}

  private struct State {
    var bytes: [UInt8]?
    var version = Version()
    var isLocked = false
    var appends = 0
    var replacements = 0
    var observers: [Int: @Sendable () -> Void] = [:]
    var observerCount = 0
  }

  let name = "faulty"
  private let fault: Fault?
  private let state = Mutex(State())

  init(_ fault: Fault?) { self.fault = fault }

  static func kind(_ fault: Fault?) -> StorageUnderTest {
    StorageUnderTest(fault.map { "\($0)" } ?? "no fault") { _ in FaultyStorage(fault) }
  }

  // MARK: Reading

  func load(limit: Int) throws(VaultError) -> StoredVault {
    let (bytes, version) = state.withLock { ($0.bytes, $0.version) }
    guard let bytes else { throw error(.notFound) }
    try check(bytes, limit)
    return StoredVault(version: version, bytes: StoredBytes(bytes))
  }

  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    let (bytes, version) = state.withLock { ($0.bytes, $0.version) }
    guard let bytes else { return .removed }
    guard fault == .hidesReplacements || version === position.version else { return .replaced(nil) }
    if fault == .hasNoStart, position.offset == 0 { return .replaced(nil) }
    let isInside = fault == .comparesNoBytes ? position.offset <= bytes.count : position.isInside(bytes)
    guard isInside else { return fault == .hidesReplacements ? .none : .replaced(nil) }
    if bytes.count == position.offset { return .none }
    try check(bytes, limit)
    return .added(StoredBytes(Array(bytes[position.offset...])))
  }

  private func check(_ bytes: [UInt8], _ limit: Int) throws(VaultError) {
    guard fault == .readsBeyondTheLimit || bytes.count <= limit else { throw error(.limitExceeded) }
  }

  private func error(_ code: VaultError.Code) -> VaultError { VaultError(code, "faulty") }

  // MARK: Writing

  func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage {
    while true {
      let isTaken = try state.withLock { (state) throws(VaultError) in
        guard state.bytes != nil || fault == .locksNothing else { throw error(.notFound) }
        let isFree = !state.isLocked || fault == .hasTwoWriters
        if isFree { state.isLocked = true }
        return isFree
      }
      if isTaken { return Locked(self) }
      guard deadline.remaining > .zero else { throw error(.lockTimeout) }
      usleep(500)
      if fault == .endsWaits, deadline.timeout > .seconds(1) { return Locked(self) }
    }
  }

  func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
    let version = Version()
    try state.withLock { (state) throws(VaultError) in
      guard state.bytes == nil || fault == .createsTwice else { throw error(.alreadyExists) }
      state.bytes = fault == .createsWithoutEnd ? bytes.dropLast(8) + [0, 0, 0, 0, 0, 0, 0, 0] : bytes
      state.version = version
      state.isLocked = fault != .createsUnlocked
    }
    return (Locked(self), version)
  }

  func observe(_ notify: @escaping @Sendable () -> Void) -> StorageObservation {
    let number = state.withLock { state in
      state.observerCount += 1
      state.observers[state.observerCount] = notify
      return state.observerCount
    }
    return StorageObservation { [weak self] in self?.state.withLock { $0.observers[number] = nil } }
  }

  private final class Locked: LockedStorage {
    private let storage: FaultyStorage
    private var isEnded = false

    init(_ storage: FaultyStorage) { self.storage = storage }

    private var fault: Fault? { storage.fault }

    func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
      let found = try storage.changes(since: position, limit: limit)
      if fault == .showsWritersNothing, case .added = found { return .none }
      return found
    }

    func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError) {
      if isEnded { throw storage.error(.io) }
      let all = try storage.state.withLock { (state) throws(VaultError) -> [UInt8] in
        let bytes = state.bytes ?? []
        guard fault == .appendsAnywhere || position.version === state.version, position.offset <= bytes.count else {
          throw storage.error(.io)
        }
        state.appends += 1
        let isLost =
          switch fault {
          case .losesAppends: true
          case .forgetsOneOfTwo: state.appends % 2 == 0
          case .losesThirdAppends: state.appends % 3 == 0
          case .losesTenthAppends: state.appends % 10 == 0
          case .losesFirstAppends: state.appends == 1
          case .losesWritesAfterOthers: state.replacements > 0
          default: false
          }
        if isLost { return bytes }
        return bytes[..<(fault == .appendsAtItsEnd ? bytes.count : position.offset)] + entry
      }
      if fault == .appendsAnew { put(Array(all.prefix(100))) }
      put(all)
    }

    func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion {
      let version = Version()
      let (old, isLost) = try storage.state.withLock { (state) throws(VaultError) -> ([UInt8], Bool) in
        guard fault == .appendsAnywhere || position.map({ $0.version === state.version }) ?? true else {
          throw storage.error(.io)
        }
        state.replacements += 1
        let isLost =
          fault == .losesReplacements || fault == .losesSecondReplacements && state.replacements % 2 == 0
        if !isLost, fault != .keepsItsVersion { state.version = version }
        return (state.bytes ?? [], isLost)
      }
      if isLost { return version }
      if fault == .replacesInParts { put(Array(bytes[..<(bytes.count / 2)]) + Array(old.dropFirst(bytes.count / 2))) }
      put(bytes)
      isEnded = fault == .endsWithAReplacement
      return fault == .keepsItsVersion ? storage.state.withLock { $0.version } : version
    }

    /// Gives readers time to find it.
    private func put(_ bytes: [UInt8]) {
      storage.state.withLock { $0.bytes = bytes }
      if fault == .replacesInParts || fault == .appendsAnew { usleep(20_000) }
    }

    func remove() -> Bool {
      if fault != .removesNothing { storage.state.withLock { $0.bytes = nil } }
      return true
    }

    func release() {
      let observers = storage.state.withLock { state in
        state.isLocked = false
        return fault == .notifiesNone ? [] : Array(state.observers.values)
      }
      for notify in observers { notify() }
    }
  }
}
