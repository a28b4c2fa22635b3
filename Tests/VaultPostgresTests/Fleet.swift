#if PostgreSQL
  import Foundation
  import Secrets
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// A vault with logging, whose machines have folders below one that is removed after the test.
  struct Fleet {
    let folder: String
    let database: String
    let owner: StoredSample
    let group: AccessGroup

    static func with(
      _ database: String? = nil, freshness: Duration? = nil, _ body: (Fleet) throws -> Void
    ) throws {
      let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      defer { do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) } }
      let database = try database ?? TestServer.shared()
      let storage = try TestServer.storage(database, options: options(folder + "/owner", freshness))
      let owner = try StoredSample(in: storage)
      try owner.secrets.set("value", forKey: "a")
      try owner.vault.setAuditing(.failClosed)
      try body(Fleet(folder: folder, database: database, owner: owner, group: owner.vault.group()))
    }

    private static func options(_ folder: String?, _ freshness: Duration?) -> PostgresStorage.Options {
      var options = PostgresStorage.Options.quick
      options.logFolder = folder
      options.freshness = freshness
      return options
    }

    /// A program of a machine; one without a name only collects.
    func program(
      of machine: String?, freshness: Duration? = nil, options: Vault.Options = Vault.Options()
    ) throws -> StoredSample {
      try owner.opened(
        in: owner.storage.reopened(Self.options(machine.map { "\(folder)/\($0)" }, freshness)), options: options)
    }

    func read(_ count: Int, _ program: StoredSample) throws {
      for _ in 0..<count { #expect(try program.secrets.string(forKey: "a") == "value") }
    }

    func log(of machine: String) -> String { "\(folder)/\(machine)/\(owner.storage.vault).audit-\(group.id)" }

    func collected(_ program: StoredSample? = nil) throws -> [CollectedAuditLog] {
      try #require(try (program ?? owner).vault.readCollectedAuditLogs(of: group))
    }

    /// The log that has this id now.
    func collected(from machine: String) throws -> CollectedAuditLog {
      let file = "\(folder)/\(machine)/\(owner.storage.vault).delivered-\(group.id)"
      let id = try String(contentsOfFile: file, encoding: .utf8)
      return try #require(try collected().first { $0.machine + "\n" == id })
    }

    func administer(_ sql: String) throws { try Administrator(database).run(sql) }
    var rows: String { "secretprefs.log where vault = '\(owner.storage.vault)'" }
  }
#endif
