#if PostgreSQL
  import Foundation
  import Secrets
  import Testing
  @testable import VaultCore

  @testable import VaultPostgres

  /// Logs of machines that are delivered to the database.
  @Suite(.needsServer) struct DeliveryTests {
    private static func found(_ log: CollectedAuditLog) -> [String] {
      log.report.findings.map { "\($0.code)" + ($0.isCertain ? " certain" : "") }
    }

    @Test func `a program without a folder reads what all machines have delivered`() throws {
      try Fleet.with { fleet in
        let web = try fleet.program(of: "web")
        try fleet.read(2, web)
        try fleet.owner.vault.deliverAuditLogs()
        try web.vault.deliverAuditLogs()
        try fleet.read(1, web)

        var events: [String: [String]] = [:]
        let auditor = try fleet.program(of: nil)
        let logs = try #require(
          try auditor.vault.readCollectedAuditLogs(of: fleet.group) { machine, event in
            events[machine, default: []].append("\(event.action)")
          })
        #expect(logs.count == 2 && logs.allSatisfy { !$0.isOwn && $0.delivered > 0 })
        #expect(Set(events.values) == [["start"], ["continue", "read", "read"]])
        let (first, second) = (try fleet.collected(from: "owner"), try fleet.collected(from: "web"))
        #expect(first.lastNumber == 1 && first.report.findings.isEmpty && first.isOwn)
        #expect(second.lastNumber == 3 && second.report.eventCount == 3 && Self.found(second) == ["continued"])
        #expect(second.slot != nil && second.lastTime != nil)

        // What was logged since is added, and nothing twice.
        for _ in 0..<2 { try web.vault.deliverAuditLogs() }
        #expect(try fleet.collected(from: "web").report.eventCount == 4)
        #expect(try fleet.collected(auditor).count == 2)
      }
    }

    @Test func `the thread of an open vault delivers, also what another program has left`()
      throws
    {
      try Fleet.with { fleet in
        do { try fleet.read(3, try fleet.program(of: "web")) }
        let server = try fleet.program(of: "web", freshness: .milliseconds(100))
        try fleet.read(1, server)
        try waitFor { try fleet.collected().first?.lastNumber == 5 }
        try fleet.read(1, server)
        try waitFor { try fleet.collected().first?.lastNumber == 6 }
      }
    }

    @Test func `while logs cannot be delivered, reads go on and the health says it`() throws {
      try Fleet.with { fleet in
        let role = try TestServer.role(
          TestServer.shared(),
          "grant usage on schema secretprefs to ROLE; grant select on all tables in schema secretprefs to ROLE")
        var options = PostgresStorage.Options.quick
        options.logFolder = fleet.folder + "/weak"
        let weak = try fleet.owner.opened(
          in: TestServer.storage(vault: fleet.owner.storage.vault, user: role, options: options))
        try fleet.read(1, weak)
        try waitFor {
          guard case .degraded(_, let error) = weak.vault.health() else { return false }
          return error.code == .readOnly && error.errno == EACCES && error.message.contains("deliver")
        }
        try fleet.read(1, weak)
        try fleet.administer("grant insert on secretprefs.log to \(role)")
        try waitFor { weak.vault.health().description == "ready" }
        #expect(try fleet.collected(from: "weak").lastNumber == 3)
      }
    }

    @Test func `rotated keys, handed-over files and changed limits are one log`() throws {
      try Fleet.with { fleet in
        let web = try fleet.program(of: "web")
        for _ in 0..<3 {
          try fleet.read(1, web)
          try web.vault.deliverAuditLogs()
          try fleet.read(1, web)
          try web.vault.handOverAuditLog(of: fleet.group)
          try fleet.owner.vault.rotate(fleet.group)
          try web.vault.refresh()
        }
        try fleet.read(1, web)
        try web.vault.deliverAuditLogs()
        let log = try fleet.collected(from: "web")
        #expect(Self.found(log) == ["continued"])
        // continued, 7 reads, 3 handed over
        #expect(log.report.eventCount == 11 && log.lastNumber == 11)
      }
    }

    @Test func `a program that does not know of a rotation begins no other log`() throws {
      try Fleet.with { fleet in
        let programs = try (0..<2).map { _ in try fleet.program(of: "web") }
        try fleet.read(1, programs[0])
        try programs[0].vault.handOverAuditLog(of: fleet.group)
        try programs[0].vault.deliverAuditLogs()
        try fleet.owner.vault.rotate(fleet.group)
        try programs[1].vault.refresh()
        try fleet.read(1, programs[1])
        try programs[0].vault.deliverAuditLogs()
        #expect(try Self.found(fleet.collected(from: "web")) == ["continued"])
        #expect(try fleet.collected().filter { !$0.isOwn }.count == 1)
      }
    }

    @Test func `files that were moved away after their delivery leave no gap`() throws {
      try Fleet.with { fleet in
        let web = try fleet.program(of: "web")
        try fleet.read(1, web)
        try web.vault.handOverAuditLog(of: fleet.group)
        try web.vault.deliverAuditLogs()
        try FileManager.default.removeItem(atPath: fleet.log(of: "web") + ".000001")
        try fleet.read(1, web)
        try web.vault.deliverAuditLogs()
        #expect(try Self.found(fleet.collected(from: "web")) == ["continued"])
        #expect(try fleet.collected().filter { !$0.isOwn }.count == 1)

        // Before their delivery, they do.
        try web.vault.handOverAuditLog(of: fleet.group)
        try fleet.read(1, web)
        try FileManager.default.removeItem(atPath: fleet.log(of: "web") + ".000002")
        try web.vault.deliverAuditLogs()
        #expect(try Self.found(fleet.collected(from: "web")).contains("fileMissing"))
      }
    }

    @Test(arguments: ["folder", "log", "copy"])
    func `a machine that lost its log begins another one, and the old one stays up to where it was delivered`(
      loss: String
    ) throws {
      try Fleet.with { fleet in
        let log = fleet.log(of: "web")
        do {
          let web = try fleet.program(of: "web")
          try fleet.read(2, web)
          let copy = try Data(contentsOf: URL(filePath: log))
          try fleet.read(1, web)
          try web.vault.deliverAuditLogs()
          try fleet.read(1, web)
          switch loss {
          case "folder": try FileManager.default.removeItem(atPath: fleet.folder + "/web")
          case "log": try FileManager.default.removeItem(atPath: log)
          default: try copy.write(to: URL(filePath: log))
          }
        }
        chmod(log, 0o600)
        let web = try fleet.program(of: "web")
        try fleet.read(2, web)
        try web.vault.deliverAuditLogs()
        let old = try #require(try fleet.collected().first { $0.lastNumber == 4 && !$0.isOwn })
        #expect(old.report.eventCount == 4)
        #expect(try fleet.collected(from: "web").machine != old.machine)
        #expect(try fleet.collected(web).count { $0.isOwn } == 1)
      }
    }

    @Test func `programs of a machine that deliver at the same time deliver once`() throws {
      try Fleet.with { fleet in
        let programs = try (0..<4).map { _ in try fleet.program(of: "web") }
        for round in 1...5 {
          for program in programs { try fleet.read(1, program) }
          DispatchQueue.concurrentPerform(iterations: 4) { [programs] number in
            do { try programs[number].vault.deliverAuditLogs() } catch { Issue.record(error) }
          }
          let log = try fleet.collected(from: "web")
          #expect(log.report.eventCount == 1 + 4 * round)
          #expect(Self.found(log) == ["continued"])
        }
        #expect(try fleet.collected().count == 1)
      }
    }

    @Test(arguments: [
      "delete from ROWS and start = (select min(start) from ROWS and start > 256)",
      "update secretprefs.log set bytes = set_byte(bytes, 40, get_byte(bytes, 40) # 1) where vault = 'VAULT'",
      "update secretprefs.log set header = set_byte(header, 60, get_byte(header, 60) # 1) where vault = 'VAULT'",
      "update secretprefs.log set bytes = bytes || bytes where vault = 'VAULT' and start > 256",
      "update secretprefs.log set header = '' where vault = 'VAULT'",
      "delete from ROWS and start = 256",
    ])
    func `what an administrator changes before the newest event is found`(act: String) throws {
      try Fleet.with { fleet in
        for _ in 0..<4 {
          try fleet.read(1, fleet.owner)
          try fleet.owner.vault.deliverAuditLogs()
        }
        #expect(try fleet.collected().map(Self.found) == [[]])
        try fleet.administer(
          act.replacing("ROWS", with: fleet.rows).replacing("VAULT", with: fleet.owner.storage.vault))
        let found = try fleet.collected().flatMap(Self.found)
        #expect(found.contains { $0.hasSuffix("certain") }, "\(found)")
      }
    }

    @Test func `the offset of a piece may change if the order stays, and no offset ends a program`() throws {
      try Fleet.with { fleet in
        for _ in 0..<2 {
          try fleet.read(1, fleet.owner)
          try fleet.owner.vault.deliverAuditLogs()
        }
        let log = "secretprefs.log"
        let isVault = "vault = '\(fleet.owner.storage.vault)'"
        try fleet.administer("update \(log) set start = start + 8 where \(isVault) and start > 256")
        #expect(try fleet.collected().flatMap(Self.found).isEmpty)
        try fleet.administer(
          """
          delete from \(log) where \(isVault) and start > 256;
          update \(log) set start = -9223372036854775808, bytes = '' where \(isVault)
          """)
        try fleet.read(1, fleet.owner)
        try fleet.owner.vault.deliverAuditLogs()
      }
    }

    @Test func `rows that no log file can have are a finding, and the other logs are read`() throws {
      try Fleet.with { fleet in
        let web = try fleet.program(of: "web")
        try fleet.read(1, web)
        try web.vault.deliverAuditLogs()
        let log = "\(fleet.group.id)/\(String(repeating: "0", count: 32))"
        let insert = """
          insert into secretprefs.log (vault, log, version, start, bytes, header, delivered)
          select '\(fleet.owner.storage.vault)', '\(log)'
          """
        try fleet.administer(
          """
          \(insert), 1, 256 + n, '\\x00', '', now() from generate_series(1, 1000) as n;
          \(insert), 2, 9223372036854775807, '\\x00', '', 'infinity'
          """)
        let forged = try #require(try fleet.collected().first { log.hasSuffix($0.machine) })
        let unreadable = forged.report.findings.filter { $0.code == .unreadable }
        #expect(unreadable.map(\.file) == ["file 1 of the log \(log)"])
        #expect(try fleet.collected(from: "web").lastNumber == 2)
      }
    }

    @Test func `the newest pieces can be kept back, and the log says up to where it is known`() throws {
      try Fleet.with { fleet in
        for _ in 0..<3 {
          try fleet.read(1, fleet.owner)
          try fleet.owner.vault.deliverAuditLogs()
        }
        try fleet.administer("delete from \(fleet.rows) and start = (select max(start) from \(fleet.rows))")
        let log = try fleet.collected(from: "owner")
        #expect(log.report.findings.isEmpty && log.lastNumber == 3)
        // They are delivered again.
        try fleet.owner.vault.deliverAuditLogs()
        #expect(try fleet.collected(from: "owner").lastNumber == 4)
      }
    }

    @Test func `a role that may write adds to a log, and changes and removes nothing`() throws {
      let database = try TestServer.shared()
      for access in [PostgresSchema.Access.reader, .writer] {
        let role = try TestServer.role(database)
        try PostgresDatabase(TestServer.url(database)).grant(access, to: role)
        #expect(try PostgresDatabase(TestServer.url(database, user: role)).status().mayLog)
        try Fleet.with { fleet in
          var options = PostgresStorage.Options.quick
          options.logFolder = fleet.folder + "/web"
          options.freshness = nil
          let web = try fleet.owner.opened(
            in: TestServer.storage(vault: fleet.owner.storage.vault, user: role, options: options))
          try fleet.read(1, web)
          try web.vault.deliverAuditLogs()
          #expect(try fleet.collected(from: "web").lastNumber == 2)
          for change in ["delete from", "update", "truncate"] {
            let connection = try Administrator(database)
            try connection.run("set role \(role)")
            #expect(throws: VaultError.self) {
              try connection.run("\(change) secretprefs.log" + (change == "update" ? " set bytes = ''" : ""))
            }
          }
        }
      }
    }

    @Test func `tables of the first version are brought up to date, with their vaults`() throws {
      let database = try TestServer.database()
      let sample = try StoredSample(in: try TestServer.storage(database))
      try sample.secrets.set("value", forKey: "a")
      try Administrator(database).run(
        "drop table secretprefs.log, secretprefs.request; update secretprefs.schema_version set version = 1")
      let storage = try TestServer.storage(database, vault: sample.storage.vault)
      #expect(refusal { _ = try storage.load(limit: .max) } == .unsupportedVersion)
      let opened = try PostgresDatabase(TestServer.url(database))
      #expect(try opened.createSchema() == .updated)
      #expect(try opened.createSchema() == .none)
      let other = try sample.opened(in: TestServer.storage(database, vault: sample.storage.vault))
      #expect(try other.secrets.string(forKey: "a") == "value")
      #expect(try opened.status().mayLog)
    }
  }
#endif
