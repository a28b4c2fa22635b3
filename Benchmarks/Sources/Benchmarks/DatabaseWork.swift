#if PostgreSQL
  import CLimits
  import Preferences
  import Secrets
  import VaultPostgres

  /// What a writer process does in a database: sets of 64-byte secrets, one after the other.
  enum DatabaseWork: String {
    /// Sets values of one vault.
    case vault
    /// What is written by hand instead: one row for each secret, sealed by libsodium in the client. No order, and
    /// nothing notices a row that was exchanged or removed.
    case rows
    /// The statements of a write of a vault, without the cipher, in two round trips: lock, read what the others have
    /// written since, append, commit. They are the loop of the design's figures.
    case statements

    static let vaultName = "benchmark"
    /// The tables of the two workloads by hand, both made anew.
    static let schema = """
      drop table if exists benchmark_secret, benchmark_piece, benchmark_vault;
      create table benchmark_secret (name text primary key, sealed bytea not null);
      create table benchmark_vault (name text primary key, length bigint not null, tail bytea not null);
      create table benchmark_piece (vault text, start bigint, bytes bytea not null, primary key (vault, start));
      insert into benchmark_vault values ('benchmark', 0, '');
      """

    /// Returns the call that a process makes for each of its numbers.
    func set(_ url: String, credential: Vault.Credential) throws -> (Int) throws -> Void {
      switch self {
      case .vault:
        let vault = try Vault.open(in: .postgres(url, vault: Self.vaultName), credential: credential)
        let tokens = try SecretPreferences(service: Sample.service, in: vault)
        return { try tokens.set(Sample.secret, forKey: Sample.key($0)) }
      case .rows:
        let connection = try DatabaseConnection(url)
        let key = [UInt8](repeating: 7, count: 32)
        return { number in
          let statement = """
            insert into benchmark_secret values ($1, $2) on conflict (name) do update set sealed = excluded.sealed
            """
          try connection.run([(statement, [.text(Sample.key(number)), .bytes(Self.seal(Sample.secret, key))])])
        }
      case .statements:
        let connection = try DatabaseConnection(url)
        let entry = [UInt8](repeating: 5, count: 384)
        var known: Int64 = 0
        return { _ in
          let numbers = try connection.run([
            ("begin", []), ("select length, tail from benchmark_vault where name = 'benchmark' for update", []),
            (
              "select start, bytes from benchmark_piece where vault = 'benchmark' and start >= $1::bigint order by start",
              [.text(String(known))]
            ),
          ])
          known = numbers[0] + Int64(entry.count)
          try connection.run([
            (
              """
              insert into benchmark_piece select name, length, $1 from benchmark_vault where name = 'benchmark'
              """, [.bytes(entry)]
            ),
            (
              "update benchmark_vault set length = length + 384, tail = $1 where name = 'benchmark'",
              [.bytes(Array(entry.prefix(32)))]
            ),
            ("commit", []),
          ])
        }
      }
    }

    private static func seal(_ value: String, _ key: [UInt8]) -> [UInt8] {
      var sealed = [UInt8](repeating: 0, count: 24 + 16 + value.utf8.count)
      sealed.withUnsafeMutableBufferPointer { sealed in
        randombytes_buf(sealed.baseAddress!, 24)
        _ = crypto_secretbox_easy(
          sealed.baseAddress! + 24, Array(value.utf8), UInt64(value.utf8.count), sealed.baseAddress!, key)
      }
      return sealed
    }
  }
#endif
