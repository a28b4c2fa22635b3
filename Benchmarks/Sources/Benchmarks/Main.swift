import Glibc
import Preferences
import Secrets
import VaultCore

/// Measures the hot paths beside their limits, in one run, on the disk of the current directory.
///
/// `swift run -c release Benchmarks [RECORDS…] [OPERATION…]`: 100, 1000 and 10000 records, and all operations, unless
/// given. With `--traits GRDB` there is the operation `rival`, and with `--traits PostgreSQL` there is `postgres`,
/// which `Scripts/postgres` gives a server.
@main struct Main {
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    if words.first == WriterProcess.argument { return try WriterProcess.run(Array(words.dropFirst())) }
    let sizes = words.compactMap { Int($0) }
    let chosen = words.filter { Int($0) == nil }
    func isWanted(_ operation: String) -> Bool { chosen.isEmpty || chosen.contains(operation) }
    var table = Table()
    for size in sizes.isEmpty ? [100, 1_000, 10_000] : sizes {
      let sample = try Sample(records: size, in: ".")
      defer { sample.remove() }
      if isWanted("get") { try get(sample, &table) }
      if isWanted("open") { try open(sample, &table) }
      if isWanted("list") { try list(sample, &table) }
      if isWanted("set") { try durableSet(sample, &table) }
      if isWanted("tasks") { try await concurrentSets(sample, &table) }
    }
    if isWanted("batch") { try batch(&table) }
    if isWanted("create") { try create(&table) }
    if isWanted("writers") { try writers(&table) }
    if isWanted("layers") { try layers(&table) }
    #if GRDB
      if isWanted("rival") { try await RivalBenchmarks.run(&table) }
    #endif
    #if PostgreSQL
      if isWanted("postgres") { try DatabaseBenchmarks.run(&table) }
    #endif
    table.print()
  }

  static func get(_ sample: Sample, _ table: inout Table) throws {
    let keys = (0..<256).map { Sample.key($0 * 7919 % sample.count) }
    var open = OpenLimit(service: Sample.service, key: keys[0], valueBytes: 64)
    let freshness = FreshnessLimit(sample.path)
    let snapshot = try sample.tokens.snapshot()
    var turn = 0
    let copy = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
    defer { copy.deallocate() }
    let times = try Timing.medians(
      rounds: 41, calls: 2_000,
      [
        { open.call() },
        // Together, because what runs after a system call finds the processor's caches used.
        {
          freshness.call()
          open.call()
        },
        {
          turn = (turn + 1) % keys.count
          _ = try sample.tokens.withBytes(forKey: keys[turn]) { value in
            value.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
          }
        },
        {
          turn = (turn + 1) % keys.count
          _ = try sample.tokens.string(forKey: keys[turn])
        },
        {
          turn = (turn + 1) % keys.count
          _ = try snapshot.withBytes(forKey: keys[turn]) { value in
            value.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
          }
        },
        {
          turn = (turn + 1) % keys.count
          _ = try snapshot.string(forKey: keys[turn])
        },
      ])
    let limit = times[1]
    table.add("get into memory / derive, tag, open + stat, pread", sample.count, times[2], limit: limit, target: 1.3)
    table.add("get into memory / derive, tag, open alone", sample.count, times[2], limit: times[0], target: nil)
    table.add("get as String", sample.count, times[3], limit: limit, target: 2.0)
    table.add("get from a snapshot / derive, tag, open", sample.count, times[4], limit: times[0], target: 1.3)
    table.add("get from a snapshot as String / derive, tag, open", sample.count, times[5], limit: times[0], target: nil)
  }

  static func open(_ sample: Sample, _ table: inout Table) throws {
    let limit = LoadLimit(sample.path)
    let times = try Timing.medians(
      rounds: 41, calls: 1,
      [
        { limit.call() },
        {
          let tokens = try SecretPreferences(service: Sample.service, in: try sample.reopened())
          _ = try tokens.withBytes(forKey: Sample.key(0)) { _ in }
        },
      ])
    let milliseconds = times[1] / 1e6
    let targets = [100: 0.3, 1_000: 1, 10_000: 6]
    table.add("open to first get / read, hash twice, decrypt", sample.count, times[1], limit: times[0], target: nil)
    if let target = targets[sample.count] {
      table.add(
        "open to first get", sample.count, "\(Table.number(milliseconds)) ms", target: "≤ \(target) ms",
        isMet: milliseconds <= target)
    }
  }

  static func list(_ sample: Sample, _ table: inout Table) throws {
    let time = try Timing.medians(rounds: 21, calls: 1, [{ _ = try sample.tokens.keys() }])[0]
    let microseconds = time / 1000 / Double(sample.count)
    table.add(
      "list, a name", sample.count, "\(Table.number(microseconds)) µs", target: "≤ 0.2 µs",
      isMet: microseconds <= 0.2)
    var status = stat()
    stat(sample.path, &status)
    let bytes = (Double(status.st_size) - 32 * 1024) / Double(sample.count)
    // Fixed fields 44, seals 136 with a value of 64, names: nothing of a record can be shorter (Docs/Format.md 3.6).
    let least = Double(44 + 136 - 4 + Sample.service.utf8.count + Sample.key(0).utf8.count)
    if sample.count >= 10_000 {
      table.add(
        "file, a record with \(Int(least) - 176) bytes of names / the format's least", sample.count,
        "\(Table.number(bytes)) B / \(Table.number(least)) B", target: "≤ 1.06×", isMet: bytes <= least * 1.0625)
    }
  }

  static func durableSet(_ sample: Sample, _ table: inout Table) throws {
    var overwrite = OverwriteLimit(sample.directory + "/limit", bytes: 384)
    var limit = SetLimit(sample.directory + "/set-limit")
    var turn = 0
    let times = try Timing.medians(
      rounds: 1_500, calls: 1,
      [
        { overwrite.call() },
        { limit.call() },
        {
          turn = (turn + 1) % sample.count
          try sample.tokens.set(Sample.secret, forKey: Sample.key(turn))
        },
      ])
    table.add("durable set / the same calls and ciphers", sample.count, times[2], limit: times[1], target: 1.15)
    table.add("durable set / overwrite + fdatasync", sample.count, times[2], limit: times[0], target: nil)
  }

  static func concurrentSets(_ sample: Sample, _ table: inout Table) async throws {
    func run(tasks: Int, writes: Int) async throws -> Double {
      let start = Timing.now()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
          group.addTask {
            for write in 0..<writes / tasks {
              try await sample.tokens.set(Sample.secret, forKey: Sample.key((task * 131 + write) % sample.count))
            }
          }
        }
        try await group.waitForAll()
      }
      return (Timing.now() - start) / Double(writes)
    }
    let one = try await run(tasks: 1, writes: 640)
    let many = try await run(tasks: 64, writes: 12_800)
    let ratio = one / many
    table.add(
      "64 tasks, sets a second beside one task", sample.count, "\(Table.number(ratio))×", target: "≥ 10×",
      isMet: ratio >= 10)
  }

  static func create(_ table: inout Table) throws {
    let time = try Timing.medians(rounds: 41, calls: 1, [{ try Sample(records: 0, in: ".").remove() }])[0] / 1e6
    table.add(
      "create an empty vault with a raw key, and remove it", 0, "\(Table.number(time)) ms", target: "≤ 5 ms",
      isMet: time <= 5)
  }

  static func batch(_ table: inout Table) throws {
    let values = Dictionary(
      uniqueKeysWithValues: (0..<10_000).map { (Sample.key($0), PreferenceValue.string(Sample.secret)) })
    var (times, limits): ([Double], [Double]) = ([], [])
    for _ in 0..<15 {
      let sample = try Sample(records: 1, in: ".")
      defer { sample.remove() }
      let start = Timing.now()
      try sample.tokens.set(values)
      times.append((Timing.now() - start) / 10_000)
      // Fixed fields and seal of a record: 176 bytes beside its names (`Docs/Format.md` 3.6).
      let names = Sample.service.utf8.count + Sample.key(0).utf8.count
      var limit = BatchLimit(in: sample.directory, records: values.count, recordBytes: 176 + names)
      let limitStart = Timing.now()
      limit.call()
      limits.append((Timing.now() - limitStart) / 10_000)
    }
    table.add(
      "batch of 10,000, a record / the same calls and ciphers", 10_000, Timing.median(times),
      limit: Timing.median(limits), target: 1.15)
  }

  static func layers(_ table: inout Table) throws {
    let benchmarks = LayerBenchmarks()
    try benchmarks.lookups(&table)
    try benchmarks.typedReads(&table)
    try benchmarks.writes(&table)
    try benchmarks.notifications(&table)
    try benchmarks.userDefaults(&table)
  }

  static func writers(_ table: inout Table) throws {
    /// Nanoseconds of all sets, and of the longest one.
    func run(_ work: WriterProcess.Work, processes: Int, sets: Int) throws -> (all: Double, longest: Double) {
      let sample = try Sample(records: 0, in: ".")
      defer { sample.remove() }
      let writers = try (0..<processes).map {
        try WriterProcess(work, in: sample.path, sample.key, from: $0 * sets, sets: sets)
      }
      let start = Timing.now()
      for writer in writers { writer.begin() }
      let longest = try writers.map { try $0.durations().max()! }.max()!
      let all = Timing.now() - start
      if work == .sets, try sample.tokens.keys().count != processes * sets { throw VaultError(.io, "a set was lost") }
      return (all, longest)
    }
    for processes in [4, 8] {
      var (ratios, limits): ([Double], [Double]) = ([], [])
      var (longest, alone) = (0.0, 0.0)
      for _ in 0..<5 {
        let one = try run(.sets, processes: 1, sets: processes * 200)
        let many = try run(.sets, processes: processes, sets: 200)
        ratios.append(one.all / many.all)
        longest = max(longest, many.longest)
        alone = max(alone, one.longest)
        let call = try run(.calls, processes: 1, sets: processes * 200)
        limits.append(call.all / (try run(.calls, processes: processes, sets: 200)).all)
      }
      let (ratio, limit) = (Timing.median(ratios), Timing.median(limits))
      table.add(
        "\(processes) writer processes, sets a second beside one / lock, overwrite + fdatasync alone", 0,
        "\(Table.number(ratio))× / \(Table.number(limit))×", target: "≥ 0.9×", isMet: ratio >= 0.9)
      table.add(
        "\(processes) writer processes, the longest set / of one writer", 0,
        "\(Table.time(longest)) / \(Table.time(alone))", target: "≤ 200 ms", isMet: longest <= 200e6)
    }
  }
}
