#if PostgreSQL
  import Foundation
  import Secrets
  import Testing

  @testable import VaultCore
  @testable import VaultPostgres

  /// Delivered logs that the owner of a database removes.
  @Suite(.needsServer) struct RemovedLogTests {
    /// A machine that has delivered two files that it handed over, with two events each, and a third.
    private static func with(_ body: (Fleet, _ web: StoredSample, PostgresDatabase) throws -> Void) throws {
      let database = try TestServer.database()
      try Fleet.with(database) { fleet in
        let web = try fleet.program(of: "web")
        for _ in 0..<2 {
          try fleet.read(1, web)
          try web.vault.handOverAuditLog(of: fleet.group)
          try web.vault.deliverAuditLogs()
        }
        try fleet.read(1, web)
        try web.vault.deliverAuditLogs()
        try fleet.owner.vault.deliverAuditLogs()
        try body(fleet, web, PostgresDatabase(TestServer.url(database)))
      }
    }

    private static func age(_ days: Int, _ fleet: Fleet, _ files: String = "true") throws {
      try fleet.administer(
        "update secretprefs.log set delivered = now() - interval '\(days) days' where \(files)")
    }

    private static func events(_ fleet: Fleet) throws -> [UInt64] {
      var numbers: [UInt64] = []
      let id = try fleet.collected(from: "web").machine
      _ = try fleet.owner.vault.readCollectedAuditLogs(of: fleet.group) { machine, event in
        if machine == id { numbers.append(event.number) }
      }
      return numbers
    }

    @Test func `what is gone is named, and the log goes on behind what is left`() throws {
      try Self.with { fleet, web, database in
        let before = try fleet.collected(from: "web")
        #expect(try Self.events(fleet) == [1, 2, 3, 4, 5, 6])
        try Self.age(100, fleet)
        #expect(try database.removeLogs(olderThanDays: 101) == 0)
        #expect(try database.removeLogs(olderThanDays: 99) == 2)
        #expect(try database.removeLogs(olderThanDays: 99) == 0)

        let log = try fleet.collected(from: "web")
        #expect(log.machine == before.machine && log.lastNumber == before.lastNumber)
        #expect(log.report.findings.map(\.code) == [.earlierFiles])
        #expect(log.report.findings[0].events == 1...5 && !log.report.findings[0].isCertain)
        #expect(try Self.events(fleet) == [6])
        // The log of the owner's machine, of one file, is whole.
        #expect(try fleet.collected(from: "owner").report.findings.isEmpty)

        try fleet.read(1, web)
        try web.vault.deliverAuditLogs()
        #expect(try Self.events(fleet) == [6, 7])
        #expect(try fleet.collected().count == 2)
      }
    }

    @Test func `no file is removed behind one that stays`() throws {
      try Self.with { fleet, _, database in
        try Self.age(100, fleet, "version = 2")
        #expect(try database.removeLogs(olderThanDays: 90) == 0)
        // A file to which something was delivered later is not old.
        try Self.age(100, fleet, "version = 1 and start = 256")
        try fleet.administer(
          """
          insert into secretprefs.log (vault, log, version, start, bytes, header)
          select vault, log, version, 9999, '', header from secretprefs.log where version = 1 and start = 256
          """)
        #expect(try database.removeLogs(olderThanDays: 90) == 0)
        #expect(try database.removeLogs(olderThanDays: -5) == 0)
      }
    }

    @Test func `what a machine has removed itself, and has logged, is no finding`() throws {
      let database = try TestServer.database()
      try Fleet.with(database) { fleet in
        try fleet.owner.vault.setAuditing(.failClosed, limits: AuditLimits(keptDays: 1))
        let web = try fleet.program(of: "web")
        try fleet.read(1, web)
        try web.vault.handOverAuditLog(of: fleet.group)
        try web.vault.deliverAuditLogs()
        var options = Vault.Options()
        options.now = { Vault.Options.systemClock() + 10 * 86_400_000 }
        let later = try fleet.program(of: "web", options: options)
        try fleet.read(1, later)
        try later.vault.handOverAuditLog(of: fleet.group)
        try later.vault.deliverAuditLogs()
        try Self.age(10, fleet, "version = 1")
        #expect(try PostgresDatabase(TestServer.url(database)).removeLogs(olderThanDays: 1) == 1)
        let log = try fleet.collected(from: "web")
        #expect(log.report.findings.isEmpty && log.report.eventCount == Int(log.lastNumber) - 3)
      }
    }

    @Test func `only the owner of the tables removes logs`() throws {
      try Self.with { fleet, _, database in
        try Self.age(100, fleet)
        for access in [PostgresSchema.Access.reader, .writer] {
          let role = try TestServer.role(fleet.database)
          try database.grant(access, to: role)
          let error = failure {
            _ = try PostgresDatabase(TestServer.url(fleet.database, user: role)).removeLogs(olderThanDays: 1)
          }
          #expect(error?.code == .readOnly && error?.errno == EACCES)
        }
        #expect(try Self.events(fleet).count == 6)
      }
    }
  }
#endif
