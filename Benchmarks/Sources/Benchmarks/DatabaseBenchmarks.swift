#if PostgreSQL
  import CLibpq
  import Glibc
  import Preferences
  import Secrets
  import VaultPostgres

  /// Vaults in PostgreSQL beside the same work by hand: `Scripts/postgres PROGRAM postgres`, which starts a server.
  enum DatabaseBenchmarks {
    static func run(_ table: inout Table) throws {
      let url = try prepare()
      try writes(url, &table)
      for count in [100, 10_000, 100_000] { try reads(url, records: count, &table) }
    }

    /// Makes a database with the schema and the tables of the work by hand.
    private static func prepare() throws -> String {
      guard let folder = getenv("SECRETPREFS_POSTGRES").map({ String(cString: $0) }) else {
        throw VaultError(.io, "SECRETPREFS_POSTGRES does not name a server: run Scripts/postgres PROGRAM postgres")
      }
      func url(_ name: String) -> String { "postgresql:///\(name)?host=\(folder)&user=postgres" }
      let name = "benchmark_\(getpid())"
      try execute("create database \(name)", url("postgres"))
      try execute(PostgresSchema.script, url(name))
      try execute(DatabaseWork.schema, url(name))
      return url(name)
    }

    private static func execute(_ script: String, _ url: String) throws {
      let connection = PQconnectdb(url)
      defer { PQfinish(connection) }
      let result = PQexec(connection, script)
      defer { PQclear(result) }
      guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
        throw VaultError(.io, "the database of the benchmark could not be made")
      }
    }

    private struct Result {
      /// Sets a second of all processes together.
      var rate: Double
      /// In nanoseconds, in order.
      var times: [Double]

      func time(_ share: Double) -> Double { times[min(times.count - 1, Int(Double(times.count) * share))] }
    }

    private static func measure(_ work: DatabaseWork, _ url: String, processes: Int, sets: Int) throws -> Result {
      let key = try SealingKey(from: .system)
      if work == .vault {
        try execute("delete from secretprefs.piece; delete from secretprefs.vault", url)
        _ = try Vault.create(
          in: .postgres(url, vault: DatabaseWork.vaultName), slots: [NewSlot(.key(key))], groups: [NewGroup("default")])
      }
      let writers = try (0..<processes).map {
        try WriterProcess(.database(work), in: url, key, from: $0 * sets, sets: sets)
      }
      let start = Timing.now()
      for writer in writers { writer.begin() }
      let times = try writers.flatMap { try $0.durations() }
      let all = Timing.now() - start
      if work == .vault {
        let vault = try Vault.open(in: .postgres(url, vault: DatabaseWork.vaultName), credential: .key(key))
        let found = try SecretPreferences(service: Sample.service, in: vault).keys().count
        guard found == processes * sets else { throw VaultError(.io, "a set was lost") }
      }
      return Result(rate: Double(times.count) / all * 1e9, times: times.sorted())
    }

    private static func writes(_ url: String, _ table: inout Table) throws {
      for processes in [1, 4, 16, 64] {
        let sets = 1_600 / processes
        var results: [DatabaseWork: [Result]] = [:]
        // In turns, so that drift of the machine meets all of them alike.
        for _ in 0..<3 {
          for work in [DatabaseWork.vault, .rows, .statements] {
            results[work, default: []].append(try measure(work, url, processes: processes, sets: sets))
          }
        }
        func median(_ work: DatabaseWork, _ value: (Result) -> Double) -> Double {
          Timing.median(results[work]!.map(value))
        }
        for other in [DatabaseWork.statements, .rows] {
          let ratios = zip(results[.vault]!, results[other]!).map { $0.rate / $1.rate }
          let ratio = Timing.median(ratios)
          table.add(
            "PostgreSQL, \(processes) processes: sets a second / \(other.rawValue) by hand", 0,
            "\(Int(median(.vault, \.rate))) / \(Int(median(other, \.rate))) = \(Table.number(ratio))",
            target: other == .statements ? "≥ 0.8" : "", isMet: other == .rows || ratio >= 0.8)
        }
        for (name, share) in [("p50", 0.5), ("p99", 0.99), ("worst", 1.0)] {
          table.add(
            "PostgreSQL, \(processes) processes: a set, \(name) / by hand in rows", 0,
            median(.vault) { $0.time(share) }, limit: median(.rows) { $0.time(share) }, target: nil)
        }
      }
    }

    /// Reads and opening beside a file with the same records, and what the database stores.
    private static func reads(_ url: String, records: Int, _ table: inout Table) throws {
      let sample = try Sample(records: records, in: ".")
      defer { sample.remove() }
      try execute("delete from secretprefs.piece; delete from secretprefs.vault", url)
      let storage = try PostgresStorage(url, vault: DatabaseWork.vaultName)
      try Vault.copy(from: .file(sample.path), to: storage)
      let opened = try Timing.medians(
        rounds: 11, calls: 1,
        [
          { _ = try Vault.open(in: .postgres(url, vault: DatabaseWork.vaultName), credential: .key(sample.key)) },
          { _ = try sample.reopened() },
        ])
      table.add("PostgreSQL, open / a file", records, opened[0], limit: opened[1], target: nil)
      let vault = try Vault.open(in: storage, credential: .key(sample.key))
      let tokens = try SecretPreferences(service: Sample.service, in: vault)
      let freshness = FreshnessLimit(sample.path)
      let copy = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
      defer { copy.deallocate() }
      var turn = 0
      func get(_ tokens: SecretPreferences) throws {
        turn = (turn + 7919) % records
        _ = try tokens.withBytes(forKey: Sample.key(turn)) { value in
          value.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        }
      }
      let gets = try Timing.medians(
        rounds: 41, calls: 1_000, [{ try get(tokens) }, { try get(sample.tokens) }, { freshness.call() }])
      table.add(
        "PostgreSQL, get / of a file less its two system calls", records, gets[0], limit: gets[1] - gets[2],
        target: nil)
      // A second program takes over what this one has written.
      let writer = try SecretPreferences(
        service: Sample.service,
        in: Vault.open(in: .postgres(url, vault: DatabaseWork.vaultName), credential: .key(sample.key)))
      var times: [Double] = []
      for number in 0..<21 {
        try writer.set(Sample.secret, forKey: Sample.key(number % records))
        let start = Timing.now()
        try vault.refresh()
        try get(tokens)
        times.append(Timing.now() - start)
      }
      table.add(
        "PostgreSQL, refresh and take over one entry", records, Table.time(Timing.median(times)), target: "",
        isMet: true)
    }
  }
#endif
