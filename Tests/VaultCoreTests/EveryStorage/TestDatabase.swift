import Foundation
import VaultCore
import VaultPostgres

/// A database of the server that `Scripts/postgres` has started.
enum TestDatabase {
  private static let folder = ProcessInfo.processInfo.environment["SECRETPREFS_POSTGRES"]

  #if PostgreSQL
    static let isAvailable = folder != nil

    /// The vault that is named by a path.
    static func storage(_ path: String, logs: AuditLogLocation) throws(VaultError) -> any VaultStorage {
      var options = PostgresStorage.Options()
      options.freshness = .milliseconds(100)
      // For machines that do much else.
      options.answerTimeout = .seconds(60)
      options.holdLimit = .seconds(120)
      return AskedStorage(base: try PostgresStorage(try url.get(), vault: path, options: options), auditLogs: logs)
    }

    /// Of a database with the tables, which is made when it is first needed.
    private static let url = Result { () throws(VaultError) in
      let name = "behaviour_" + UUID().uuidString.lowercased().filter { $0 != "-" }
      try run("create database \(name)", in: "postgres")
      try run(PostgresSchema.script, in: name)
      return "postgresql:///\(name)?host=\(folder ?? "")&user=postgres"
    }

    private static func run(_ sql: String, in database: String) throws(VaultError) {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "psql", "-h", folder ?? "", "-U", "postgres", "-d", database, "-q", "-v", "ON_ERROR_STOP=1", "-c", sql,
      ]
      do { try process.run() } catch { throw VaultError(.io, "psql cannot be run: \(error)") }
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw VaultError(.io, "psql has failed") }
    }
  #else
    static let isAvailable = false

    static func storage(_ path: String, logs: AuditLogLocation) throws(VaultError) -> any VaultStorage {
      throw VaultError(.unsupportedFeature, "built without PostgreSQL")
    }
  #endif
}

/// A storage that asks the place at each read, as that of a file does. When a database is asked otherwise is tested
/// with VaultPostgres.
struct AskedStorage: VaultStorage {
  let base: any VaultStorage
  let auditLogs: AuditLogLocation?

  var name: String { base.name }

  func load(limit: Int) throws(VaultError) -> StoredVault {
    try base.refresh()
    return try base.load(limit: limit)
  }

  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    try base.refresh()
    return try base.changes(since: position, limit: limit)
  }

  func synchronize(_ version: any StorageVersion) throws(VaultError) { try base.synchronize(version) }

  func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage { try base.lock(until: deadline) }

  func checkVacant() throws(VaultError) { try base.checkVacant() }

  func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
    try base.create(bytes)
  }

  func observe(_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> StorageObservation {
    try base.observe(notify)
  }

  func refresh() throws(VaultError) { try base.refresh() }

  var age: Duration { base.age }
  var problem: VaultError? { base.problem }
  var activity: StorageActivity? { base.activity }
  var auditCollection: (any AuditLogCollection)? { base.auditCollection }
}
