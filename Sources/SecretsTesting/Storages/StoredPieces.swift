internal import Testing
internal import VaultCore

/// Bytes that a rule has put into a storage: a snapshot and entries, in form only. No byte is zero, because a storage
/// may end its bytes with zeros.
struct StoredPieces {
  static let limit = 1 << 24

  let storage: any VaultStorage
  private(set) var version: any StorageVersion
  private(set) var bytes: [UInt8]

  init(in storage: any VaultStorage, _ count: Int) throws {
    self.storage = storage
    bytes = Self.piece(count, 1)
    let (locked, version) = try storage.create(bytes)
    self.version = version
    locked.release()
  }

  /// Nonzero bytes, different for each seed.
  static func piece(_ count: Int, _ seed: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: (($0 &* 31) ^ ($0 >> 8) &+ seed &* 97) % 255 + 1) }
  }

  /// The end of the bytes.
  var position: StoragePosition { position(at: bytes.count) }

  func position(at offset: Int) -> StoragePosition {
    StoragePosition(version: version, offset: offset, lastBytes: Array(bytes[(offset - 32)..<offset]))
  }

  /// The end of the bytes, as another storage at the same place has it.
  func position(in other: any VaultStorage) throws -> StoragePosition {
    StoragePosition(
      version: try other.load(limit: Self.limit).version, offset: bytes.count, lastBytes: Array(bytes.suffix(32)))
  }

  /// Runs `body` under the lock, as a writer that has taken over what others have appended.
  func locked<R>(_ body: (any LockedStorage) throws -> R) throws -> R {
    let locked = try storage.lock(until: LockDeadline(after: .seconds(60)))
    defer { locked.release() }
    _ = try locked.changes(since: position, limit: Self.limit)
    return try body(locked)
  }

  mutating func append(_ entry: [UInt8]) throws {
    try locked { try $0.append(entry, at: position) }
    bytes += entry
  }

  mutating func replace(with bytes: [UInt8]) throws {
    version = try locked { try $0.replace(with: bytes, behind: position) }
    self.bytes = bytes
  }

  /// Checks that a storage has these bytes, and nothing but zeros behind them.
  func expect(in storage: any VaultStorage, _ comment: Comment) throws {
    try storage.refresh()
    let found = try storage.load(limit: Self.limit).bytes.bytes
    #expect(found.starts(with: bytes) && found.dropFirst(bytes.count).allSatisfy { $0 == 0 }, comment)
  }

  /// Checks what a storage has behind a position.
  static func expect(_ changes: StorageChanges, add bytes: [UInt8], _ comment: Comment) {
    switch changes {
    case .added(let added):
      let found = added.bytes
      #expect(found.starts(with: bytes) && found.dropFirst(bytes.count).allSatisfy { $0 == 0 }, comment)
    case .none: #expect(bytes.isEmpty, comment)
    case .replaced, .removed: Issue.record(comment)
    }
  }
}

/// The code of the error that `body` throws; `nil` if it throws none.
func errorCode(_ body: () throws -> Void) -> VaultError.Code? {
  do { try body() } catch { return (error as? VaultError)?.code }
  return nil
}

extension StorageChanges {
  var isReplaced: Bool { if case .replaced = self { true } else { false } }
  var isRemoved: Bool { if case .removed = self { true } else { false } }
  var isNone: Bool { if case .none = self { true } else { false } }
}
