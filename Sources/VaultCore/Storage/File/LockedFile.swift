internal import DurableFiles

/// The file of a vault, locked for writing (`Docs/Format.md` 5.1, 5.2).
final class LockedFile: LockedStorage {
  private let storage: FileStorage
  private let lock: WriterLock
  private var file: OpenFile
  private var status: stat
  /// The length of the file.
  private var end: Int
  /// The last bytes that were read, and their offset: they show where a broken entry ends.
  private var lastRead: (offset: Int, bytes: StoredBytes)?
  /// An entry that could not be synced, until a replacement makes it durable.
  private var unsynced: Range<Int>?

  private var path: VaultPath { storage.path }

  /// - Parameter lock: holds the file.
  init(_ storage: FileStorage, _ lock: WriterLock, _ file: OpenFile) {
    self.storage = storage
    self.lock = lock
    self.file = file
    status = file.status
    end = Int(status.st_size)
  }

  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    guard (position.version as? OpenFile)?.identity == file.identity else { return .replaced(nil) }
    if position.offset == 0 { try examine() }
    let changes = try file.changes(since: position, end: end, limit: limit)
    if case .added(let bytes) = changes { lastRead = (position.offset, bytes) }
    return changes
  }

  private func examine() throws(VaultError) {
    status = try file.descriptor.status()
    end = Int(status.st_size)
  }

  // MARK: Appending

  func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError) {
    guard let known = position.version as? OpenFile, known.identity == file.identity else { throw changedByOthers }
    // If a rename is not durable yet, a power failure could undo it and with it this append (5.1). If this fails,
    // nothing was written, and the next append tries again.
    if !known.isNameDurable {
      _ = try path.synchronizeDirectory()
      known.isNameDurable = true
    }
    let offset = position.offset
    let tornEnd = try keepTornTail(behind: offset)
    var bytes = entry
    let entryEnd = offset + bytes.count
    if tornEnd > entryEnd { bytes.append(contentsOf: repeatElement(0, count: tornEnd - entryEnd)) }
    if end <= entryEnd {
      bytes.append(contentsOf: repeatElement(0, count: storage.reserve(behind: entryEnd)))
    }
    lastRead = nil
    var writtenCount = 0
    do throws(VaultError) {
      try file.descriptor.write(bytes.bytes, at: offset, done: &writtenCount)
    } catch {
      if writtenCount > 0 { try undo(from: offset, count: writtenCount) }
      throw error
    }
    end = max(end, offset + bytes.count)
    do throws(VaultError) { try file.descriptor.synchronizeData() } catch {
      unsynced = offset..<entryEnd
      throw path.error(
        .durabilityUnknown, "the disk refused to sync an append: the change may or may not survive",
        errno: error.errno, cause: error)
    }
  }

  /// Removes the bytes of a failed write.
  private func undo(from offset: Int, count: Int) throws(VaultError) {
    do throws(VaultError) {
      let zeros = [UInt8](repeating: 0, count: max(0, min(count, end - offset)))
      try file.descriptor.write(zeros, at: offset)
      try file.descriptor.truncate(to: end)
      try file.descriptor.synchronizeData()
    } catch {
      throw path.error(
        .durabilityUnknown, "a failed append could not be undone", errno: error.errno, cause: error)
    }
  }

  /// Saves the broken bytes behind the journal, before they are written over.
  /// - Returns: their end.
  private func keepTornTail(behind offset: Int) throws(VaultError) -> Int {
    var read = lastRead
    if read.map({ offset < $0.offset || offset > $0.offset + $0.bytes.count }) ?? true {
      let image = try FileImage(file.descriptor, min(offset, end)..<end, limit: .max)
      read = (offset, StoredBytes(image))
    }
    guard let read else { return offset }
    let image = read.bytes.image
    let tail = image.span.extracting((read.bytes.start + offset - read.offset)...)
    if tail.isZero { return offset }
    let count = JournalFrame.lastNonzero(tail, from: 0)
    try KeptTornTail(path: path).keep(tail.extracting(..<count))
    return offset + count
  }

  // MARK: Replacing

  func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion {
    if let position {
      guard (position.version as? OpenFile)?.identity == file.identity else { throw changedByOthers }
      _ = try keepTornTail(behind: position.offset)
    }
    let fresh: OpenFile
    do throws(VaultError) {
      fresh = try Replacement(path: path).replace(status, with: bytes, reserve: storage.reserve(behind: bytes.count))
    } catch {
      if error.code == .durabilityUnknown { lock.pass(to: nil) }
      throw error
    }
    fresh.isNameDurable = true
    lock.pass(to: fresh.descriptor)
    file = fresh
    unsynced = nil
    lastRead = nil
    status = fresh.status
    end = Int(status.st_size)
    return fresh
  }

  private var changedByOthers: VaultError {
    path.error(.io, "the file was changed by a process that does not hold its lock")
  }

  func remove() -> Bool { file.descriptor.discard(path.file) }

  func release() {
    if let unsynced {
      do throws(VaultError) {
        try file.descriptor.write([UInt8](repeating: 0, count: unsynced.count), at: unsynced.lowerBound)
        try file.descriptor.synchronizeData()
      } catch {}  // the durability of the entry is reported as unknown
    }
    lock.release()
    storage.keep(lock)
  }
}
