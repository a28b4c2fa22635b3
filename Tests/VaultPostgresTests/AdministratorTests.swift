#if PostgreSQL
  import Foundation
  import Secrets
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// What the administrator of a database can do to a vault: a program that opens it reads what its owner has written
  /// last, an earlier state if there is no mark, or nothing.
  @Suite(.needsServer) struct AdministratorTests {
    /// An act, as statements about the vault `$it`. `$other` is another vault, and the tables `old_…` have the rows
    /// of `$it` from before its last two writes. `v` are the rows of `$it`, `p` its pieces.
    struct Act: Sendable, CustomTestStringConvertible {
      let name: String
      let sql: String
      init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
      }
      var testDescription: String { name }
    }

    /// The number of a piece, counted from the end.
    private static func piece(_ number: Int) -> String {
      "(select start from secretprefs.piece where vault = '$it' order by start desc offset \(number) limit 1)"
    }
    private static let fix = """
      update secretprefs.vault set
        length = (select sum(octet_length(bytes)) from secretprefs.piece where vault = '$it'),
        tail = (select substring(string_agg(bytes, '' order by start) from
          (sum(octet_length(bytes)) - 31)::integer) from secretprefs.piece where vault = '$it')
      where name = '$it';
      """
    private static func at(_ number: Int) -> String { "vault = '$it' and start = \(piece(number))" }
    private static func flip(_ offset: String) -> String {
      "bytes = set_byte(bytes, \(offset), get_byte(bytes, \(offset)) # 1)"
    }
    private static let insert = "insert into secretprefs.piece select"

    static let acts: [Act] = [
      Act("drops the row", "delete from secretprefs.vault where name = '$it'"),
      Act("drops all pieces", "delete from secretprefs.piece where vault = '$it'"),
      Act("drops the snapshot", "delete from secretprefs.piece where vault = '$it' and start = 0"),
      Act(
        "drops the snapshot and fits the row", "delete from secretprefs.piece where vault = '$it' and start = 0; \(fix)"
      ),
      Act("drops the newest entry", "delete from secretprefs.piece where \(at(0))"),
      Act("drops the newest entry and fits the row", "delete from secretprefs.piece where \(at(0)); \(fix)"),
      Act("drops a middle entry", "delete from secretprefs.piece where \(at(1))"),
      Act("drops a middle entry and fits the row", "delete from secretprefs.piece where \(at(1)); \(fix)"),
      Act(
        "closes the gap of a middle entry",
        """
        delete from secretprefs.piece where \(at(1));
        update secretprefs.piece set start = start - octet_length(bytes) where \(at(0)); \(fix)
        """),
      Act(
        "swaps the newest two entries",
        """
        create temporary table swapped as select start, bytes from secretprefs.piece where vault = '$it';
        update secretprefs.piece set bytes = (select bytes from swapped where start = \(piece(1))) where \(at(0));
        update secretprefs.piece set bytes = (select bytes from swapped where start = (select max(start) from swapped))
          where \(at(1)); \(fix)
        """),
      Act(
        "doubles the newest entry",
        """
        \(insert) vault, version, start + octet_length(bytes), bytes from secretprefs.piece where \(at(0)); \(fix)
        """),
      Act(
        "doubles the newest entry behind the row",
        "\(insert) vault, version, start + octet_length(bytes), bytes from secretprefs.piece where \(at(0))"),
      Act(
        "replays the first entry",
        """
        \(insert) vault, version, (select length from secretprefs.vault where name = '$it'), bytes
          from secretprefs.piece where \(at(3)); \(fix)
        """),
      Act("edits the newest entry", "update secretprefs.piece set \(flip("100")) where \(at(0))"),
      Act(
        "edits the newest entry's check",
        "update secretprefs.piece set \(flip("octet_length(bytes) - 1")) where \(at(0))"),
      Act(
        "edits the newest entry's check and fits the row",
        "update secretprefs.piece set \(flip("octet_length(bytes) - 1")) where \(at(0)); \(fix)"),
      Act("edits the length of an entry", "update secretprefs.piece set \(flip("1")) where \(at(0)); \(fix)"),
      Act("edits a middle entry", "update secretprefs.piece set \(flip("60")) where \(at(2))"),
      Act("edits the header", "update secretprefs.piece set \(flip("8")) where vault = '$it' and start = 0"),
      Act("edits the snapshot", "update secretprefs.piece set \(flip("300")) where vault = '$it' and start = 0"),
      Act("empties a piece", "update secretprefs.piece set bytes = '' where \(at(1))"),
      Act("empties a piece and fits the row", "update secretprefs.piece set bytes = '' where \(at(0)); \(fix)"),
      Act("cuts a piece", "update secretprefs.piece set bytes = substring(bytes for 200) where \(at(0))"),
      Act(
        "cuts a piece and fits the row",
        "update secretprefs.piece set bytes = substring(bytes for 200) where \(at(0)); \(fix)"),
      Act("makes the row longer", "update secretprefs.vault set length = length + 1 where name = '$it'"),
      Act("makes the row shorter", "update secretprefs.vault set length = length - 1 where name = '$it'"),
      Act("makes the row very long", "update secretprefs.vault set length = 4611686018427387904 where name = '$it'"),
      Act("makes the row negative", "update secretprefs.vault set length = -1 where name = '$it'"),
      Act("makes the row empty", "update secretprefs.vault set length = 0, tail = '' where name = '$it'"),
      Act(
        "changes the tail",
        "update secretprefs.vault set tail = set_byte(tail, 0, get_byte(tail, 0) # 1) where name = '$it'"),
      Act("cuts the tail", "update secretprefs.vault set tail = substring(tail for 31) where name = '$it'"),
      Act("raises the version of the row", "update secretprefs.vault set version = version + 1 where name = '$it'"),
      Act(
        "raises the version of everything",
        """
        update secretprefs.vault set version = version + 1 where name = '$it';
        update secretprefs.piece set version = version + 1 where vault = '$it'
        """),
      Act(
        "lowers the version of everything",
        """
        update secretprefs.vault set version = version - 1 where name = '$it';
        update secretprefs.piece set version = version - 1 where vault = '$it'
        """),
      Act(
        "puts back old rows",
        """
        delete from secretprefs.piece where vault = '$it'; insert into secretprefs.piece select * from old_piece;
        delete from secretprefs.vault where name = '$it'; insert into secretprefs.vault select * from old_vault
        """),
      Act(
        "puts back old rows as a new version",
        """
        delete from secretprefs.piece where vault = '$it';
        \(insert) vault, version + 9, start, bytes from old_piece;
        delete from secretprefs.vault where name = '$it';
        insert into secretprefs.vault select name, version + 9, length, tail from old_vault
        """),
      Act(
        "puts back the old row alone",
        "delete from secretprefs.vault where name = '$it'; insert into secretprefs.vault select * from old_vault"),
      Act(
        "puts the other vault in its place",
        """
        delete from secretprefs.piece where vault = '$it';
        \(insert) '$it', version, start, bytes from secretprefs.piece where vault = '$other';
        delete from secretprefs.vault where name = '$it';
        insert into secretprefs.vault select '$it', version, length, tail from secretprefs.vault where name = '$other'
        """),
      Act(
        "appends an entry of the other vault",
        """
        \(insert) '$it', (select version from secretprefs.vault where name = '$it'),
          (select length from secretprefs.vault where name = '$it'), bytes from secretprefs.piece
          where vault = '$other' order by start desc limit 1; \(fix)
        """),
      Act(
        "puts the other vault's snapshot before the entries",
        """
        update secretprefs.piece set bytes = (select bytes from secretprefs.piece where vault = '$other' and start = 0)
          where vault = '$it' and start = 0; \(fix)
        """),
      Act("renames the vault", "update secretprefs.vault set name = name || 'x' where name = '$it'"),
      Act("moves a piece", "update secretprefs.piece set start = start + 1 where \(at(0))"),
      Act(
        "moves the snapshot before the start",
        "update secretprefs.piece set start = -1 where vault = '$it' and start = 0"),
      Act(
        "lets pieces overlap",
        "\(insert) vault, version, start + 1, bytes from secretprefs.piece where \(at(0))"),
      Act(
        "splits a piece",
        """
        \(insert) vault, version, start + 100, substring(bytes from 101) from secretprefs.piece where \(at(0));
        update secretprefs.piece set bytes = substring(bytes for 100) where \(at(1))
        """),
      Act(
        "appends zeros", "update secretprefs.piece set bytes = bytes || '\\x0000000000000000' where \(at(0)); \(fix)"),
      Act(
        "appends garbage",
        "update secretprefs.piece set bytes = bytes || '\\x0102030405060708' where \(at(0)); \(fix)"),
    ]

    private static let refusals: Set<VaultError.Code> = [
      .damaged, .tampered, .malformed, .notAVault, .notFound, .rolledBack, .credentialRejected, .limitExceeded,
      .unsupportedVersion,
    ]

    @Test(arguments: acts)
    func `no act of the administrator makes a reader accept what was not written last`(act: Act) throws {
      let database = try TestServer.shared()
      let administrator = try Administrator(database)
      let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      defer { do { try FileManager.default.removeItem(atPath: folder) } catch {} }
      var marked = Vault.Options()
      marked.markPath = folder + "/mark"
      let sample = try StoredSample(in: try TestServer.storage(), options: marked)
      let other = try StoredSample(in: try TestServer.storage())
      try other.secrets.set("SENTINEL-5f3a of another", forKey: "a")
      for number in 1...4 {
        try sample.secrets.set("value \(number)", forKey: "a")
        guard number == 2 else { continue }
        let name = sample.storage.vault
        try administrator.run(
          """
          create temporary table old_vault as select * from secretprefs.vault where name = '\(name)';
          create temporary table old_piece as select * from secretprefs.piece where vault = '\(name)'
          """)
      }
      // Two that run: one with the mark and one without.
      let withMark = try sample.opened(options: marked)
      let without = try sample.opened()
      for running in [withMark, without] { #expect(try running.secrets.string(forKey: "a") == "value 4") }
      try administrator.run(
        act.sql.replacing("$it", with: sample.storage.vault).replacing("$other", with: other.storage.vault))

      let reads: [(isMarked: Bool, read: () throws -> String?)] = [
        (true, { try sample.opened(options: marked).secrets.string(forKey: "a") }),
        (false, { try sample.opened().secrets.string(forKey: "a") }),
        (true, { try Self.refreshed(withMark) }),
        (false, { try Self.refreshed(without) }),
        (false, { try Self.written(without) }),
      ]
      for (number, (isMarked, read)) in reads.enumerated() {
        let comment: Comment = "\(act.name), reader \(number)"
        do {
          let value = try read()
          let accepted = isMarked ? ["value 4"] : ["value 1", "value 2", "value 3", "value 4", "value 5"]
          #expect(value.map(accepted.contains) == true, comment)
        } catch {
          let code = (error as? VaultError)?.code
          #expect(code.map(Self.refusals.contains) == true, "\(comment): \(error)")
        }
      }
    }

    /// What a running program reads when it has heard of the change.
    private static func refreshed(_ sample: StoredSample) throws -> String? {
      try sample.vault.refresh()
      return try sample.secrets.string(forKey: "a")
    }

    /// What a running program reads after it has written.
    private static func written(_ sample: StoredSample) throws -> String? {
      try sample.secrets.set("value 5", forKey: "a")
      return try sample.secrets.string(forKey: "a")
    }
  }
#endif
