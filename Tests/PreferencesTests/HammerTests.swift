import FoundationEssentials
import Preferences
import Synchronization
import Testing

private final class Counter: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock(\.self) }
  @discardableResult
  func increase() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}

/// Many tasks in one store at once. What matters is that the thread sanitizer sees no race, and that afterwards every
/// store holds a value that was written.
struct HammerTests {
  static let tasks = 8
  static let rounds = 60
  /// Every write is synced to the disk.
  static let fileRounds = 12
  private let keys = ["a", "b", "server.port", "server.host"]

  private func hammer(
    _ store: some PreferencesStore, rounds: Int = rounds, _ extra: @escaping @Sendable () throws -> Void = {}
  ) async throws {
    let seen = Counter()
    let observation = store.observe(PreferenceKey<Int>("a", default: 0)) { _ in seen.increase() }
    let consumer = Task { for await _ in store.updates(forKeys: ["a", "b"]) { seen.increase() } }
    try await withThrowingTaskGroup { group in
      for task in 0..<Self.tasks {
        group.addTask { [keys] in
          for round in 0..<rounds {
            let key = keys[(task + round) % keys.count]
            switch round % 6 {
            case 0...2: try store.set(task * 1_000 + round, forKey: key)
            case 3: try store.removeValue(forKey: key)
            case 4: try store.set(["a": .integer(Int64(round)), "b": .integer(Int64(task))])
            default:
              let short = store.observe { _ in seen.increase() }
              _ = try store.keys()
              short.invalidate()
            }
            _ = try store.integer(forKey: key)
            try extra()
          }
          try store.set(task, forKey: "a")
        }
      }
      try await group.waitForAll()
    }
    consumer.cancel()
    await consumer.value
    #expect(try (0..<Self.tasks).contains(store.integer(forKey: "a") ?? -1))
    #expect(seen.value > 0)
    observation.invalidate()
  }

  @Test func `item 25: a dictionary can be used by many tasks`() async throws {
    try await hammer(DictionaryPreferences())
  }

  @Test func `item 25: views with a prefix and with other names can be used by many tasks`() async throws {
    try await hammer(DictionaryPreferences().below("app.").renaming(["a": "z", "z": "a"]))
  }

  @Test func `item 25: a buffered store can be used by many tasks, with rollbacks between`() async throws {
    let buffer = BufferedPreferences(DictionaryPreferences())
    let round = Counter()
    try await hammer(buffer) {
      if round.increase().isMultiple(of: 10) { buffer.rollback() }
    }
    try await buffer.commit()
    #expect(buffer.isClean)
  }

  @Test func `item 25: a composite can be used by many tasks, with changes in its layers`() async throws {
    let (upper, lower) = (DictionaryPreferences(), DictionaryPreferences())
    try await hammer(CompositePreferences([upper, BufferedPreferences(lower)], writeMode: .allStores)) {
      try lower.set(1, forKey: "b")
      try upper.removeValue(forKey: "b")
    }
  }

  @Test(arguments: [PreferenceFileOptions.creating, [.creating, .savingExplicitly]])
  func `item 25: a file can be used by many tasks, with reloads and saves`(options: PreferenceFileOptions) async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
    let json = try JSONPreferences(at: folder.path + "/a.json", options: options)
    let watch = try await json.watch()
    try await hammer(json, rounds: Self.fileRounds) {
      try json.save()
      try json.reload()
    }
    watch.invalidate()
    let list = try PropertyListPreferences(at: folder.path + "/a.plist", options: options)
    try await hammer(list, rounds: Self.fileRounds)
    try await list.save()
    #expect(try PropertyListPreferences(at: folder.path + "/a.plist").keys() == list.keys())
  }

  @Test func `item 25: the stores of a sync can be used by many tasks, while keys are added and removed`() async throws
  {
    let (here, there) = (DictionaryPreferences(), DictionaryPreferences())
    let (a, b) = (PreferenceKey<Int>("a", default: 0), PreferenceKey<Int>("b", default: 0))
    let sync = PreferenceSync(here, with: there)
    try await sync.add(a)
    try await hammer(here) {
      try sync.add(b)
      try there.set(7, for: b)
      sync.remove(b)
    }
    try await sync.waitForCompletion()
    #expect(try here.value(for: a) == there.value(for: a))
  }

  @Test func `item 25: observations that many tasks begin, tie and end race with changes`() async throws {
    final class Owner: Sendable {}
    let store = DictionaryPreferences()
    let key = PreferenceKey<Int>("a", default: 0)
    let received = Counter()
    try await withThrowingTaskGroup { group in
      for task in 0..<Self.tasks {
        group.addTask {
          for round in 0..<Self.rounds * 4 {
            let owner = Owner()
            let observation = store.observe(key, initial: true, prior: true) { _ in received.increase() }
            observation.tie(to: owner)
            try store.set(task * 1_000 + round, for: key)
            if round.isMultiple(of: 2) { observation.untie() }
            if round.isMultiple(of: 3) { observation.invalidate() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(received.value >= Self.tasks * Self.rounds * 4)
  }
}
