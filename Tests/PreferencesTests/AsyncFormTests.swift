import Foundation
import Preferences
import PreferencesOperators
import PreferencesTestSupport
import Synchronization
import Testing

/// The asynchronous forms of what writes to a store.
struct AsyncFormTests {}

extension AsyncFormTests {
  /// A store in memory that counts the writes in each form.
  final class CountingPreferences: PreferencesStore {
    let name = "counting"
    let base = DictionaryPreferences(["port": 8080, "flag": true, "text": "a", "ratio": 0.5])
    private let counts = Mutex((blocking: 0, suspending: 0))
    var blocking: Int { counts.withLock(\.blocking) }
    var suspending: Int { counts.withLock(\.suspending) }

    func value(for query: PreferenceQuery) throws -> PreferenceValue? { base.value(for: query) }
    func names(of secrecy: Secrecy) throws -> [PreferenceName] { base.names(of: secrecy) }
    func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
      counts.withLock { $0.blocking += 1 }
      return try base.apply(edits)
    }
    func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
      counts.withLock { $0.suspending += 1 }
      let apply: (PreferenceEdits) throws -> WriteOutcome = base.apply
      return try apply(edits)
    }
  }

  enum Name: String { case port }

  struct Write: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: [String: PreferenceValue?]
    let run: @Sendable (CountingPreferences) async throws -> Void

    init(
      _ name: String, _ expected: [String: PreferenceValue?],
      _ run: @escaping @Sendable (CountingPreferences) async throws -> Void
    ) { (testDescription, self.expected, self.run) = (name, expected, run) }
  }

  static let port = PreferenceKey<Int>("port", default: 0)
  static let writes = [
    Write("reset of several keys", ["port": nil, "flag": nil]) {
      try await $0.reset(port, PreferenceKey("flag", default: false))
    },
    Write("reset of keys of one type", ["port": nil]) { try await $0.reset([port]) },
    Write("set through a transformation", ["port": 81]) {
      try await $0.set(
        "81", forKey: "port",
        through: TwoWayTransformation<Int, String>(reading: { "\($0)" }, writing: { Int($0) ?? 0 }))
    },
    Write("set of an encoded value", ["port": 81]) { try await $0.set(encoding: 81, forKey: "port") },
    Write("set by the name of a case", ["port": 81]) { try await $0.set(81, forKey: Name.port) },
    Write("set of a value by the name of a case", ["port": 81]) {
      try await $0.set(PreferenceValue.integer(81), forKey: Name.port)
    },
    Write("removal by the name of a case", ["port": nil]) { try await $0.removeValue(forKey: Name.port) },
    Write("setIfAbsent", ["new": 1]) { try await $0.preference("new", as: Int.self).setIfAbsent(1) },
    Write("rewrite", ["port": "8080"]) {
      _ = try await $0.preference(for: port).rewrite(as: String.self) { $0.map { "\($0)" } }
    },
    Write("toggle", ["flag": false]) { try await $0.preference("flag", as: Bool.self).toggle() },
    Write("invertBits", ["port": -8081]) { try await $0.preference(for: port).invertBits() },
    Write("+=, an integer", ["port": 8081]) { try await $0.preference(for: port) += 1 },
    Write("-=, an integer", ["port": 8079]) { try await $0.preference(for: port) -= 1 },
    Write("*=, an integer", ["port": 16160]) { try await $0.preference(for: port) *= 2 },
    Write("/=, an integer", ["port": 4040]) { try await $0.preference(for: port) /= 2 },
    Write("%=, an integer", ["port": 80]) { try await $0.preference(for: port) %= 1000 },
    Write("&=, an integer", ["port": 0x90]) { try await $0.preference(for: port) &= 0xFF },
    Write("|=, an integer", ["port": 0x1FFF]) { try await $0.preference(for: port) |= 0x1FFF },
    Write("^=, an integer", ["port": 8081]) { try await $0.preference(for: port) ^= 1 },
    Write("++", ["port": 8081]) { try await $0.preference(for: port)++ },
    Write("--", ["port": 8079]) { try await $0.preference(for: port)-- },
    Write("+=, a number", ["ratio": 1.5]) { try await $0.preference("ratio", as: Double.self) += 1 },
    Write("-=, a number", ["ratio": -0.5]) { try await $0.preference("ratio", as: Double.self) -= 1 },
    Write("*=, a number", ["ratio": 1.0]) { try await $0.preference("ratio", as: Double.self) *= 2 },
    Write("/=, a number", ["ratio": 0.25]) { try await $0.preference("ratio", as: Double.self) /= 2 },
    Write("+=, text", ["text": "ab"]) { try await $0.preference("text", as: String.self) += "b" },
    Write("&&=", ["flag": false]) { try await $0.preference("flag", as: Bool.self) &&= false },
    Write("||=", ["off": true]) { try await $0.preference("off", as: Bool.self) ||= true },
    Write("&=, a boolean", ["flag": false]) { try await $0.preference("flag", as: Bool.self) &= false },
    Write("|=, a boolean", ["off": true]) { try await $0.preference("off", as: Bool.self) |= true },
    Write("?=, a handle", ["new": 1]) { try await $0.preference("new", as: Int.self) ?= 1 },
    Write("+=, values", ["new": 1]) { try await ($0 as any PreferencesStore) += ["new": 1] },
    Write("+=, pairs", ["new": 2]) { try await ($0 as any PreferencesStore) += [("new", 1), ("new", 2)] },
    Write("+=, a reader", ["new": 1]) { try await ($0 as any PreferencesStore) += DictionaryPreferences(["new": 1]) },
    Write("?=, values", ["new": 1, "port": 8080]) { try await ($0 as any PreferencesStore) ?= ["new": 1, "port": 2] },
    Write("?=, closures", ["new": 1]) { try await ($0 as any PreferencesStore) ?= ["new": { 1 }] },
    Write("-=, a name", ["port": nil]) { try await ($0 as any PreferencesStore) -= "port" },
    Write("-=, names", ["port": nil, "flag": nil]) { try await ($0 as any PreferencesStore) -= ["port", "flag"] },
  ]

  @Test(arguments: writes)
  func `the asynchronous form writes once, in the form of the store that suspends`(write: Write) async throws {
    let store = CountingPreferences()
    try await write.run(store)
    for (name, value) in write.expected { #expect(try store.value(forKey: name) == value, "\(name)") }
    #expect(store.blocking == 0)
    #expect(store.suspending == 1)
  }

  @Test @MainActor func `an awaited write of a record calls its closures on a different thread`() async throws {
    let isMain = Mutex<[Bool]>([])
    let record = RecordPreferences(keys: { [] }, get: { _ in nil }) { _, _ in
      isMain.withLock { $0.append(isOnMainQueue) }
    }
    try await record.set(1, for: Self.port)
    #expect(isOnMainQueue)
    #expect(isMain.withLock(\.self) == [false])
  }

  @Test @MainActor func `an awaited write, reload and save of a file call observers on a different thread`()
    async throws
  {
    try await withTemporaryFolder { folder in
      let isMain = Mutex<[Bool]>([])
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      let observation = file.observe { _ in isMain.withLock { $0.append(isOnMainQueue) } }
      try await file.set(1, for: Self.port)
      let other = try JSONPreferences(at: folder + "/a.json", options: .savingExplicitly)
      try await JSONPreferences(at: folder + "/a.json").set(2, for: Self.port)
      try await file.reload()
      #expect(isMain.withLock(\.self) == [false, false])
      try await other.set(true, forKey: "flag")
      let second = other.observe { _ in isMain.withLock { $0.append(isOnMainQueue) } }
      try await other.save()
      #expect(isMain.withLock(\.self) == [false, false, false])
      withExtendedLifetime((observation, second)) {}
    }
  }

  @Test func `a migration that is awaited suppresses its observers like any write`() async throws {
    let store = DictionaryPreferences(["port": 8080])
    let changes = Tally()
    let observation = store.observe { _ in changes.count.add(1, ordering: .relaxed) }
    let migrator = try PreferenceMigrator([PreferenceMigration(to: 1, [.rename("port", to: "server.port")])])
    let done = try await withoutObservation { try await migrator.run(on: store) }
    #expect(done == [1])
    #expect(store["server.port"] == 8080)
    #expect(changes.count.load(ordering: .relaxed) == 0)
    observation.invalidate()
  }

  @Test func `a sync that is awaited has synced`() async throws {
    let (here, there) = (DictionaryPreferences(["port": 1]), DictionaryPreferences())
    let sync = PreferenceSync(here, with: there)
    try await sync.add(Self.port)
    #expect(there["port"] == 1)
    try await withoutObservation { try await here.set(2, for: Self.port) }
    await sync.sync()
    #expect(there["port"] == 2)
  }

  @Test func `a file is written and saved in the asynchronous forms`() async throws {
    try await withTemporaryFolder { folder in
      let path = folder + "/settings.json"
      try await DictionaryPreferences(["port": 1]).write(to: path, format: JSONFormat())
      let file = try JSONPreferences(at: path, options: .savingExplicitly)
      try await file.set(2, for: Self.port)
      try await file.save()
      #expect(try JSONPreferences(at: path).value(for: Self.port) == 2)
      try await JSONPreferences(at: path).set(3, for: Self.port)
      try await file.reload()
      #expect(try file.value(for: Self.port) == 3)
      let error = await preferencesError {
        try await DictionaryPreferences().write(to: "/missing/x", format: JSONFormat())
      }
      #expect(error?.code == .unwritable)
    }
  }

  @Test func `work that blocks stops no other task, even if it is more than the cores`() async throws {
    let count = ProcessInfo.processInfo.activeProcessorCount + 4
    let begun = Tally()
    let isReady = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          begun.count.add(1, ordering: .relaxed)
          try await BlockingWork.run { isReady.wait() }
        }
      }
      while begun.count.load(ordering: .relaxed) < count { await Task.yield() }
      for _ in 0..<count { isReady.signal() }
      try await group.waitForAll()
    }
  }
}

private func preferencesError(_ body: () async throws -> Void) async -> PreferencesError? {
  do {
    try await body()
    return nil
  } catch { return error as? PreferencesError }
}

private let mainQueueMark: DispatchSpecificKey<Void> = {
  let key = DispatchSpecificKey<Void>()
  DispatchQueue.main.setSpecific(key: key, value: ())
  return key
}()

/// Whether this is called by the main actor. Its thread is not always the first thread of the process.
private var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueMark) != nil }

/// A number that several tasks change.
private final class Tally: Sendable { let count = Atomic(0) }
