#if PostgreSQL
  import Foundation
  import Secrets
  import Testing
  @testable import VaultCore

  @testable import VaultPostgres

  /// Reads and writes that are logged in folders of the machines.
  @Suite(.needsServer) struct LogTests {
    /// A folder that is removed after the test.
    private static func withFolder(_ body: (String) throws -> Void) throws {
      let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      defer { do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) } }
      try body(folder)
    }

    private static func options(_ folder: String) -> PostgresStorage.Options {
      var options = PostgresStorage.Options.quick
      options.logFolder = folder
      return options
    }

    private static func actions(_ vault: Vault) throws -> [String] {
      var actions: [String] = []
      _ = try vault.readAuditLog(of: vault.group()) { event in
        actions.append("\(event.action)" + (event.key.map { " " + $0.text } ?? ""))
      }
      return actions
    }

    @Test func `each machine logs its reads and writes in its folder`() throws {
      try Self.withFolder { folder in
        let sample = try StoredSample(in: try TestServer.storage(options: Self.options(folder + "/first")))
        try sample.secrets.set("value", forKey: "a")
        try sample.vault.setAuditing(.failClosed)
        let other = try sample.opened(in: sample.storage.reopened(Self.options(folder + "/second")))
        #expect(try other.secrets.string(forKey: "a") == "value")
        try sample.secrets.set("new", forKey: "a")

        #expect(try Self.actions(sample.vault) == ["start", "write a"])
        #expect(try Self.actions(other.vault) == ["continue", "read a"])
        let group = try sample.vault.group().id
        for machine in ["first", "second"] {
          let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(machine)")
          #expect(files.filter { $0.contains(".audit") } == ["\(sample.storage.vault).audit-\(group)"])
        }
      }
    }

    @Test func `reads are logged while the database is away`() throws {
      try Self.withFolder { folder in
        let proxy = try CuttingProxy()
        defer { proxy.end() }
        let direct = try StoredSample(in: try TestServer.storage(options: Self.options(folder)))
        try direct.secrets.set("value", forKey: "a")
        try direct.vault.setAuditing(.failClosed)
        let sample = try direct.opened(
          in: TestServer.storage(
            vault: direct.storage.vault, folder: proxy.folder, options: Self.options(folder)))
        #expect(try sample.secrets.string(forKey: "a") == "value")
        proxy.refuseAll()
        #expect(refusal { try sample.vault.refresh() } == .unreachable)
        #expect(try sample.secrets.string(forKey: "a") == "value")
        // Two programs of one machine share its log.
        #expect(try Self.actions(direct.vault) == ["start", "read a", "read a"])
      }
    }

    @Test func `without a folder, reads and writes of a vault with logging are refused`() throws {
      try Self.withFolder { folder in
        let sample = try StoredSample(in: try TestServer.storage(options: Self.options(folder)))
        try sample.secrets.set("value", forKey: "a")
        try sample.vault.setAuditing(.failOpen)
        let other = try sample.opened()
        for error in [
          failure { _ = try other.secrets.string(forKey: "a") }, failure { try other.secrets.set("x", forKey: "a") },
          failure { try other.vault.setAuditing(nil) },
        ] {
          #expect(error?.code == .unsupportedFeature)
          #expect(error?.message.contains("no folder of this machine") == true)
        }
        #expect(try Self.actions(sample.vault) == ["start"])
        #expect(try sample.secrets.string(forKey: "a") == "value")
      }
    }

    @Test func `a name is encoded in the names of logs, and one that is too long is refused`() throws {
      let storage = try TestServer.storage(vault: "a/b ü", options: Self.options("/nowhere"))
      #expect(storage.auditLogs?.path.file == "/nowhere/a%2Fb%20%C3%BC")
      let name = String(repeating: "ü", count: 26)
      #expect(refusal { _ = try TestServer.storage(vault: name, options: Self.options("/nowhere")) } == .invalidName)
      #expect(refusal { _ = try TestServer.storage(vault: name) } == nil)
    }
  }
#endif
