#if PostgreSQL
  import CPostgres
  import Foundation
  import Synchronization
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// The server that `Scripts/postgres` has started.
  enum TestServer {
    /// The folder of its socket; `nil` without a server.
    static let folder = ProcessInfo.processInfo.environment["SECRETPREFS_POSTGRES"]
    /// The same of a pooler in transaction mode.
    static let pooler = ProcessInfo.processInfo.environment["SECRETPREFS_POSTGRES_POOLER"]
    static let replica = ProcessInfo.processInfo.environment["SECRETPREFS_POSTGRES_REPLICA"]

    static func url(_ database: String, user: String = "postgres", folder: String? = TestServer.folder) -> String {
      "postgresql:///\(database)?host=\(folder ?? "")&user=\(user)"
    }

    /// A database with the schema, which all tests share that need no other.
    static func shared() throws -> String {
      try sharedDatabase.withLock { name in
        if let name { return name }
        let made = try database(PostgresSchema.script)
        name = made
        return made
      }
    }

    private static let sharedDatabase = Mutex<String?>(nil)

    /// Makes a database.
    static func database(_ script: String = PostgresSchema.script) throws -> String {
      let name = "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
      try Administrator("postgres").run("create database \(name)")
      if !script.isEmpty { try Administrator(name).run(script) }
      return name
    }

    /// Makes a role that may connect, and returns its name.
    static func role(_ database: String, _ rights: String = "") throws -> String {
      let name = "role_" + UUID().uuidString.lowercased().filter { $0 != "-" }
      try Administrator("postgres").run("create role \(name) login")
      if !rights.isEmpty { try Administrator(database).run(rights.replacing("ROLE", with: name)) }
      return name
    }

    /// An empty storage with a name of its own, which is quick to see changes.
    static func storage(
      _ database: String? = nil, vault: String = UUID().uuidString, user: String = "postgres",
      folder: String? = TestServer.folder, options: PostgresStorage.Options = .quick
    ) throws -> PostgresStorage {
      try PostgresStorage(
        url(database ?? shared(), user: user, folder: folder), vault: vault, options: options)
    }
  }

  extension Trait where Self == ConditionTrait {
    /// For tests that need the server of `Scripts/postgres`.
    static var needsServer: Self {
      .enabled(if: TestServer.folder != nil, "needs a PostgreSQL server: run Scripts/postgres")
    }
  }

  extension PostgresStorage.Options {
    static var quick: Self {
      var options = Self()
      options.freshness = .milliseconds(100)
      // For machines that do much else.
      options.answerTimeout = .seconds(60)
      options.holdLimit = .seconds(120)
      return options
    }
  }

  extension PostgresStorage {
    var vault: String { core.place.vault }

    /// Ends its thread, so that every byte on its connections is one of the calls, and that each load asks.
    func unfollowed() -> Self {
      core.isEnded.store(true, ordering: .relaxed)
      return self
    }

    /// The same place, as another process would open it.
    func reopened(_ options: Options = .quick, folder: String? = TestServer.folder) throws -> PostgresStorage {
      let parts = name.split(separator: "/")
      let database = String(parts.last?.split(separator: "#").first ?? "")
      return try TestServer.storage(database, vault: vault, folder: folder, options: options)
    }
  }

  /// Does what the administrator of the database can do.
  final class Administrator {
    private let connection: OpaquePointer

    init(_ database: String, folder: String? = TestServer.folder) throws {
      connection = try PostgresLocation(TestServer.url(database, folder: folder), vault: nil).connected()
    }

    deinit { lazyPQfinish(connection) }

    /// Runs statements and returns the rows of the last one, as text.
    @discardableResult
    func run(_ sql: String) throws -> [[String]] {
      let result = lazyPQexec(connection, sql)
      defer { lazyPQclear(result) }
      guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(lazyPQresultStatus(result)) else {
        throw VaultError(.io, String(cString: lazyPQresultErrorMessage(result)))
      }
      return (0..<lazyPQntuples(result)).map { row in
        (0..<lazyPQnfields(result)).map { String(cString: lazyPQgetvalue(result, row, $0)) }
      }
    }
  }

  /// The code of the error that `body` throws; `nil` if it throws none.
  func refusal(_ body: () throws -> Void) -> VaultError.Code? { failure(body)?.code }

  /// The error that `body` throws.
  func failure(_ body: () throws -> Void) -> VaultError? {
    do { try body() } catch { return error as? VaultError }
    return nil
  }
#endif
