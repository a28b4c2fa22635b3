#if GRDB
  import CLimits
  import Foundation
  import GRDB

  /// What a program would write instead of using a vault: a table with a secretbox for each value, in SQLite by GRDB.
  ///
  /// As durable as a vault (`synchronous = FULL` with a write-ahead log). It promises less: names are legible, a row
  /// may be exchanged for an older one or removed unnoticed, and there is one key, which the program has to keep.
  final class RivalStore: Sendable {
    private let pool: DatabasePool
    private let key: [UInt8]
    let path: String

    /// Opens the file, and creates it if there is none.
    init(at path: String, key: [UInt8]) throws {
      self.path = path
      self.key = key
      pool = try DatabasePool(path: path)
      // Afterwards, because a pool sets it to `normal`, which does not wait for the disk.
      try pool.writeWithoutTransaction { try $0.execute(sql: "pragma synchronous = full") }
    }

    func createTable() throws {
      try pool.write {
        try $0.execute(
          sql: """
            create table secret (
              service text not null, key text not null, sealed blob not null, primary key (service, key)
            ) without rowid
            """)
      }
    }

    /// Copies the value to memory that the caller has allocated.
    func get(_ name: String, service: String, into value: UnsafeMutableRawPointer) throws {
      let sealed = try pool.read { database in
        try Data.fetchOne(
          try database.cachedStatement(sql: "select sealed from secret where service = ? and key = ?"),
          arguments: [service, name])
      }
      guard let sealed else { throw RivalFailure.absent }
      let isOpened = sealed.withUnsafeBytes { sealed in
        crypto_secretbox_open_easy(
          value, sealed.baseAddress! + 24, UInt64(sealed.count - 24), sealed.baseAddress!, key) == 0
      }
      guard isOpened else { throw RivalFailure.tampered }
    }

    func set(_ value: String, _ name: String, service: String) throws {
      let sealed = seal(value)
      try pool.write { try Self.insert(sealed, name, service, $0) }
    }

    func setAsync(_ value: String, _ name: String, service: String) async throws {
      let sealed = seal(value)
      try await pool.write { try Self.insert(sealed, name, service, $0) }
    }

    /// Stores all in one transaction.
    func set(_ values: [(name: String, value: String)], service: String) throws {
      try pool.write { database in
        for (name, value) in values { try Self.insert(seal(value), name, service, database) }
      }
    }

    func close() throws { try pool.close() }

    private static func insert(_ sealed: Data, _ name: String, _ service: String, _ database: Database) throws {
      try database.cachedStatement(sql: "insert or replace into secret values (?, ?, ?)")
        .execute(arguments: [service, name, sealed])
    }

    private func seal(_ value: String) -> Data {
      var sealed = Data(count: 24 + 16 + value.utf8.count)
      sealed.withUnsafeMutableBytes { sealed in
        let bytes = sealed.bindMemory(to: UInt8.self).baseAddress!
        randombytes_buf(bytes, 24)
        _ = crypto_secretbox_easy(bytes + 24, Array(value.utf8), UInt64(value.utf8.count), bytes, key)
      }
      return sealed
    }
  }

  enum RivalFailure: Error { case absent, tampered }
#endif
