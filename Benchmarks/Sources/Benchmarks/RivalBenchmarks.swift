#if GRDB
  import Foundation
  import Preferences
  import Secrets

  /// The same work with a vault and with GRDB, in turns: the column `limit` has GRDB's time.
  enum RivalBenchmarks {
    static func run(_ table: inout Table) async throws {
      for count in [1_000, 10_000] {
        let sample = try Sample(records: count, in: ".")
        defer { sample.remove() }
        let rival = try store(in: sample, records: count)
        try single(sample, rival, &table)
        if count == 1_000 {
          try await tasks(sample, rival, &table)
          try batch(&table)
        }
        try rival.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: rival.path + suffix) }
      }
    }

    private static let key = [UInt8](repeating: 1, count: 32)

    private static func store(in sample: Sample, records: Int) throws -> RivalStore {
      let rival = try RivalStore(at: sample.directory + "/rival.sqlite", key: key)
      try rival.createTable()
      try rival.set((0..<records).map { (Sample.key($0), Sample.secret) }, service: Sample.service)
      return rival
    }

    private static func single(_ sample: Sample, _ rival: RivalStore, _ table: inout Table) throws {
      let copy = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
      defer { copy.deallocate() }
      var turn = 0
      func next() -> String {
        turn = (turn + 7919) % sample.count
        return Sample.key(turn)
      }
      let gets = try Timing.medians(
        rounds: 41, calls: 1_000,
        [
          {
            _ = try sample.tokens.withBytes(forKey: next()) { value in
              value.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            }
          }, { try rival.get(next(), service: Sample.service, into: copy) },
        ])
      table.add("get into memory / GRDB", sample.count, gets[0], limit: gets[1], target: nil)
      let sets = try Timing.medians(
        rounds: 1_500, calls: 1,
        [
          { try sample.tokens.set(Sample.secret, forKey: next()) },
          { try rival.set(Sample.secret, next(), service: Sample.service) },
        ])
      table.add("durable set / GRDB", sample.count, sets[0], limit: sets[1], target: nil)
      let opens = try Timing.medians(
        rounds: 41, calls: 1,
        [
          {
            let tokens = try SecretPreferences(service: Sample.service, in: try sample.reopened())
            _ = try tokens.withBytes(forKey: Sample.key(0)) { _ in }
          },
          {
            let opened = try RivalStore(at: rival.path, key: key)
            try opened.get(Sample.key(0), service: Sample.service, into: copy)
            try opened.close()
          },
        ])
      table.add("open to first get / GRDB", sample.count, opens[0], limit: opens[1], target: nil)
    }

    private static func tasks(_ sample: Sample, _ rival: RivalStore, _ table: inout Table) async throws {
      func time(_ set: @Sendable @escaping (String) async throws -> Void) async throws -> Double {
        let start = Timing.now()
        try await withThrowingTaskGroup(of: Void.self) { group in
          for task in 0..<64 {
            group.addTask {
              for write in 0..<50 { try await set(Sample.key((task * 131 + write) % sample.count)) }
            }
          }
          try await group.waitForAll()
        }
        return (Timing.now() - start) / 3_200
      }
      var (ours, theirs): ([Double], [Double]) = ([], [])
      for _ in 0..<5 {
        ours.append(try await time { try await sample.tokens.set(Sample.secret, forKey: $0) })
        theirs.append(try await time { try await rival.setAsync(Sample.secret, $0, service: Sample.service) })
      }
      table.add(
        "64 tasks, a durable set / GRDB", sample.count, Timing.median(ours), limit: Timing.median(theirs), target: nil)
    }

    private static func batch(_ table: inout Table) throws {
      let values = (0..<10_000).map { (name: Sample.key($0), value: Sample.secret) }
      let edits = Dictionary(uniqueKeysWithValues: values.map { ($0.name, PreferenceValue.string($0.value)) })
      var (ours, theirs): ([Double], [Double]) = ([], [])
      for _ in 0..<7 {
        let sample = try Sample(records: 1, in: ".")
        defer { sample.remove() }
        var start = Timing.now()
        try sample.tokens.set(edits)
        ours.append((Timing.now() - start) / 10_000)
        let rival = try store(in: sample, records: 1)
        start = Timing.now()
        try rival.set(values, service: Sample.service)
        theirs.append((Timing.now() - start) / 10_000)
        try rival.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: rival.path + suffix) }
      }
      table.add(
        "batch of 10,000, a record / GRDB", 10_000, Timing.median(ours), limit: Timing.median(theirs), target: nil)
    }
  }
#endif
