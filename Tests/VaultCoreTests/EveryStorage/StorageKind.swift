import DurableFiles
import Foundation
import Synchronization
import Testing

@testable import VaultCore

/// What keeps the bytes of a test's vaults.
enum StorageKind: Sendable {
  case file, memory, database

  /// Of the test that runs.
  @TaskLocal static var ofTest = file

  /// With a server, the database alone: the others need none, and run without it.
  static var tested: [StorageKind] { TestDatabase.isAvailable ? [.database] : [.file, .memory] }
}

/// The vaults of a test, each at a path in its directory, whatever keeps them.
final class TestVaults: Sendable {
  private static let ofDirectories = Mutex<[String: TestVaults]>([:])

  let kind: StorageKind
  private let inMemory = Mutex<[String: MemoryStorage]>([:])

  private init(_ kind: StorageKind) { self.kind = kind }

  /// Lets the vaults of a new directory be kept as the test demands.
  static func begin(_ directory: String) {
    ofDirectories.withLock { $0[directory] = TestVaults(StorageKind.ofTest) }
  }

  static func end(_ directory: String) { ofDirectories.withLock { $0[directory] = nil } }

  /// The storage of the vault at a path, as another process would open it.
  static func storage(_ path: String, options: Vault.Options) throws(VaultError) -> any VaultStorage {
    let directory = PathName.directory(of: path)
    // Bundles, backups and what was saved of a damaged vault are files in any case.
    guard !FileManager.default.fileExists(atPath: path),
      let vaults = ofDirectories.withLock({ $0[directory] }), vaults.kind != .file
    else {
      return try FileStorage(path, options: options)
    }
    // Where the logs of a file are, so that a test finds them.
    let logs = try AuditLogLocation(folder: directory, name: String(path.dropFirst(directory.count + 1)))
    if vaults.kind == .database { return try TestDatabase.storage(path, logs: logs) }
    return vaults.inMemory.withLock { storages in
      let storage = storages[path] ?? MemoryStorage(auditLogs: logs)
      storages[path] = storage
      return storage
    }
  }
}

/// The storage of the vault at a path of a test: a file, memory or a database.
func stored(_ path: String, _ options: Vault.Options = Vault.Options()) throws(VaultError) -> any VaultStorage {
  try TestVaults.storage(path, options: options)
}

/// The bytes of a vault in any storage.
enum VaultBytes {
  /// Of a file as they are: the storage refuses one that others may read.
  static func read(_ path: String) throws -> [UInt8] {
    let storage = try stored(path)
    return storage is FileStorage ? try FileBytes.read(path) : try storage.load(limit: .max).bytes.bytes
  }

  /// Puts bytes in the place of all others, as an attacker could, or where no vault is. With files, into the same file.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let storage = try stored(path)
    if storage is FileStorage { return try FileBytes.write(bytes, to: path) }
    let locked: any LockedStorage
    do { locked = try storage.lock(until: LockDeadline(after: .seconds(600))) } catch {
      guard error.code == .notFound else { throw error }
      return try storage.create(bytes).storage.release()
    }
    defer { locked.release() }
    _ = try locked.replace(with: bytes, behind: nil)
  }
}
