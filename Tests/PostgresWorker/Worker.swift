#if PostgreSQL
  import Glibc
  import Secrets
  import VaultPostgres

  /// Prints a line at once: the process may be killed.
  func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(74) }
  }

  /// What one process does.
  struct Worker {
    private let storage: PostgresStorage

    init(_ url: String, holdLimit: Duration = .seconds(3)) throws {
      var options = PostgresStorage.Options()
      options.holdLimit = holdLimit
      options.answerTimeout = .seconds(5)
      storage = try PostgresStorage(url, vault: "shared", options: options)
    }

    private static var key: SealingKey {
      get throws { try SealingKey(from: RandomSource { $0.copyBytes(from: [UInt8](repeating: 7, count: $0.count)) }) }
    }

    private var key: SealingKey { get throws { try Self.key } }

    static func poll(_ url: String, servers: Int, seconds: Int) throws {
      let vaults = try (0..<servers).map { _ in
        try Vault.open(in: .postgres(url, vault: "shared"), credential: .key(try key))
      }
      say("ready")
      var oldest = Duration.zero
      for _ in 0..<(seconds * 10) {
        usleep(100_000)
        oldest = max(oldest, vaults.map(\.age).max() ?? .zero)
      }
      say("oldest \(Int(oldest / .milliseconds(1)))")
    }

    func create() async throws { _ = try await Vault.create(in: storage, slots: [NewSlot(.key(try key))]) }

    private func secrets() async throws -> SecretPreferences {
      let key = try key
      let vault = try await retrying { try await Vault.open(in: storage, credential: .key(key)) }
      return try SecretPreferences(service: "com.example.shared", in: vault)
    }

    func write(_ name: String, count: Int, pause: Duration) async throws {
      let secrets = try await secrets()
      for number in 0..<count {
        // No other process writes this key, so a write of unknown outcome can be repeated.
        try await retrying { try await secrets.set("\(name) \(number)", forKey: "\(name).\(number)") }
        say("\(name).\(number)")
        if pause > .zero { try await Task.sleep(for: pause) }
        if number % 10 == 0 { try await retrying { try await secrets.set("\(name) \(number)", forKey: "last") } }
      }
    }

    func read(count: Int) async throws {
      let secrets = try await secrets()
      let group = try secrets.vault.groups()[0]
      let service = try Vault.Name("com.example.shared")
      var revision: UInt64 = 0
      for number in 0..<count {
        let found = try secrets.vault.record(service: service, key: "last", in: group)?.revision ?? 0
        guard found >= revision else { throw VaultError(.rolledBack, "the revision went from \(revision) to \(found)") }
        revision = found
        if number % 20 == 19 { try await Task.sleep(for: .milliseconds(50)) }
      }
      say("read up to revision \(revision)")
    }

    func check() async throws {
      let secrets = try await secrets()
      _ = try await secrets.vault.verify()
      for key in try secrets.keys().sorted() { say("\(key) = \(try secrets.string(forKey: key) ?? "")") }
    }

    func compact() async throws { try await secrets().vault.compact() }

    func follow(mark: String?) async throws {
      let key = try key
      var options = Vault.Options()
      options.markFailure = { say("reported \($0.code.rawValue)") }
      if let mark {
        try await Vault.open(in: storage, credential: .key(key)).createMark(at: mark)
        options.markPath = mark
      }
      let vault = try await Vault.open(in: storage, credential: .key(key), options: options)
      let secrets = try SecretPreferences(service: "com.example.shared", in: vault)
      var last = ""
      while true {
        var line: String
        do { line = "keys \(try secrets.keys().count)" } catch { line = "refused \(error.code.rawValue)" }
        if line != last { say(line) }
        last = line
        try await Task.sleep(for: .milliseconds(50))
      }
    }

    func hold() throws {
      let locked = try storage.lock(until: LockDeadline(after: .seconds(60)))
      say("locked")
      while true { sleep(60) }
      locked.release()
    }

    @discardableResult
    private func retrying<R>(_ body: () async throws -> R) async throws -> R {
      let start = ContinuousClock.now
      while true {
        do { return try await body() } catch let error as VaultError {
          let passing: [VaultError.Code] = [.unreachable, .durabilityUnknown, .lockTimeout]
          guard passing.contains(error.code), start.duration(to: .now) < .seconds(120) else { throw error }
          say("again: \(error.code.rawValue)")
          try await Task.sleep(for: .milliseconds(100))
        }
      }
    }
  }
#endif
