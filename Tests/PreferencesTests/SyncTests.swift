import FoundationEssentials
import Preferences
import Synchronization
import Testing

struct SyncTests {
  let here = DictionaryPreferences([:], name: "here")
  let there = DictionaryPreferences([:], name: "there")
  let clock = Clock()
  let port = PreferenceKey<Int>("server.port", default: 80)
  let host = PreferenceKey<String?>("host")

  func sync(
    _ local: any PreferencesStore, _ remote: any PreferencesStore
  ) -> PreferenceSync {
    PreferenceSync(local, with: remote) { [clock] in clock.now() }
  }

  func time(_ store: some PreferencesReader, _ key: String = "server.port") throws -> Int? {
    try store.integer(forKey: PreferenceSync.timeKey(for: key))
  }

  func put(_ port: Int?, at time: Int64, in store: DictionaryPreferences) throws {
    if let port { try store.set(port, forKey: "server.port") }
    try store.set(time, forKey: PreferenceSync.timeKey(for: "server.port"))
  }

  // MARK: Writes while it looks

  @Test func `item 83: a write reaches the other store, with its time`() throws {
    let sync = sync(here, there)
    try sync.add(port)
    try here.set(81, for: port)
    #expect(try there.value(for: port) == 81)
    #expect(try time(here) == 1_000_000_000)
    #expect(try time(there) == 1_000_000_000)
  }

  @Test func `a write of a value that equals the old one in other bytes reaches the other store`() throws {
    let ratio = PreferenceKey<Double?>("ratio")
    let sync = sync(here, there)
    try sync.add(ratio)
    try here.set(0.0, for: ratio)
    try here.set(-0.0, for: ratio)
    #expect(try there.value(for: ratio)?.sign == .minus)
  }

  @Test func `item 83: a write in the remote store, by a program without times, is pulled`() throws {
    let sync = sync(here, there)
    try sync.add(port)
    try there.set(82, for: port)
    #expect(try here.value(for: port) == 82)
    #expect(try time(here) == time(there))
  }

  @Test func `item 83: a write is later than what it replaces, whatever the clock says`() throws {
    let sync = sync(here, there)
    try sync.add(port)
    try here.set(81, for: port)
    clock.set(1)
    try there.set(82, for: port)
    #expect(try here.value(for: port) == 82)
    #expect(try time(here) == 1_000_000_001)
  }

  @Test func `item 83: a time at the end of time does not trap`() throws {
    try put(82, at: .max, in: there)
    let sync = sync(here, there)
    try sync.add(port)
    try here.set(81, for: port)
    #expect(try time(here) == .max)
  }

  // MARK: Newest wins

  @Test(arguments: [(1, 2, 82), (2, 1, 81)])
  func `item 83: of two values the newer wins`(here ours: Int64, there theirs: Int64, winner: Int) throws {
    try put(81, at: ours, in: here)
    try put(82, at: theirs, in: there)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try here.value(for: port) == winner)
    #expect(try there.value(for: port) == winner)
    #expect(try time(here) == 2)
    #expect(try time(there) == 2)
  }

  @Test func `item 83: a value without a time loses against one with a time`() throws {
    try here.set(81, for: port)
    try put(82, at: 5, in: there)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try here.value(for: port) == 82)
  }

  @Test func `item 83: of two values without times the local one wins`() throws {
    try here.set(81, for: port)
    try there.set(82, for: port)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try there.value(for: port) == 81)
    #expect(try time(there) == 1_000_000_000)
  }

  @Test func `item 83: a change made here while no sync ran is noticed`() throws {
    do { try sync(here, there).add(port) }
    do {
      let sync = sync(here, there)
      try sync.add(port)
      try here.set(81, for: port)
    }
    try here.set(83, for: port)
    #expect(try there.value(for: port) == 81)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try there.value(for: port) == 83)
  }

  @Test func `item 83: equal values take the later time`() throws {
    try put(81, at: 3, in: here)
    try put(81, at: 7, in: there)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try time(here) == 7)
  }

  // MARK: Defaults

  @Test func `item 83: a key that is not set here only pulls`() throws {
    try there.set(82, for: port)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try here.value(for: port) == 82)
    #expect(try there.value(for: port) == 82)
  }

  @Test func `item 83: a stored default that was never synced only pulls`() throws {
    try here.set(80, for: port)
    try there.set(82, for: port)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try here.value(for: port) == 82)
  }

  @Test func `item 83: a default is not put into an empty store, and no time is written`() throws {
    try here.set(80, for: port)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(there.keys().isEmpty)
    #expect(here.keys() == ["server.port"])
  }

  @Test func `item 83: a default that is set on purpose is pushed`() throws {
    try there.set(82, for: port)
    let sync = sync(here, there)
    try sync.add(port)
    try here.set(80, for: port)
    #expect(try there.storedValue(for: port) == 80)
  }

  // MARK: Removals

  @Test(arguments: [true, false])
  func `item 83: a removal propagates both ways`(isLocal: Bool) throws {
    let sync = sync(here, there)
    try sync.add(port)
    try here.set(81, for: port)
    try (isLocal ? here : there).reset(port)
    #expect(try here.storedValue(for: port) == nil)
    #expect(try there.storedValue(for: port) == nil)
    #expect(try time(here) == time(there))
  }

  @Test func `item 83: a newer removal wins over an older value, and an older one does not`() throws {
    try put(nil, at: 9, in: there)
    try put(81, at: 8, in: here)
    do { try sync(here, there).add(port) }
    #expect(try here.storedValue(for: port) == nil)
    try put(82, at: 10, in: there)
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try here.value(for: port) == 82)
  }

  @Test func `the time of a key is not among the values of its dictionary in a file`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sync-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) } }
    let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
    try await file.set(["tags": ["a": 1], "shop": ["a": 1]])
    let (tags, shop) = (sync(file, there), sync(file.below("shop."), here))
    try await tags.add(PreferenceKey("tags.a", default: 0), PreferenceKey("tags.b", default: 0))
    try await file.set(2, forKey: "tags.a")
    try await file.set(3, forKey: "tags.b")
    try await shop.add(PreferenceKey("a", default: 0))
    try await file.set(4, forKey: "shop.a")
    try await tags.waitForCompletion()
    try await shop.waitForCompletion()
    let again = try JSONPreferences(at: file.path)
    #expect(try again.value(forKey: "tags") == ["a": 2, "b": 3])
    #expect(try again.value(forKey: "shop") == ["a": 4])
    #expect(try time(again, "tags.a") == time(there, "tags.a"))
    #expect(try time(again, "shop.a") == time(here, "a"))
    withExtendedLifetime((tags, shop)) {}
  }

  @Test(arguments: [true, false])
  func `item 83: removing all of a store propagates as removals`(isLocal: Bool) async throws {
    let sync = sync(here, there)
    try await sync.add(port, host)
    try await here.set(81, for: port)
    try await here.set("a", for: host)
    try await there.set("kept", forKey: "other")
    try await (isLocal ? here : there).removeAll()
    try await sync.waitForCompletion()
    let times = [PreferenceSync.timeKey(for: "host"), PreferenceSync.timeKey(for: "server.port")]
    #expect(here.keys() == times)
    #expect(there.keys() == (isLocal ? ["host@written", "other", "server.port@written"] : times))
    #expect(try time(here) == time(there))
    try await (isLocal ? there : here).set(82, for: port)
    #expect(try here.value(for: port) == 82 && there.value(for: port) == 82)
  }

  @Test(arguments: [true, false])
  func `item 83: removing all of a view, one key after another, propagates as removals`(isLocal: Bool) async throws {
    let (mine, theirs) = (here.below("x."), there.below("y."))
    let sync = sync(mine, theirs)
    try await sync.add(port, host)
    try await mine.set(81, for: port)
    try await mine.set("a", for: host)
    if isLocal { try await mine.removeAll() } else { try await theirs.removeAll() }
    try await sync.waitForCompletion()
    for store in [mine, theirs] as [any PreferencesStore] {
      #expect(try store.storedValue(for: port) == nil)
      #expect(try store.storedValue(for: host) == nil)
    }
  }

  @Test func `item 83: a value written after removing all wins over the removal`() throws {
    let sync = sync(here, there)
    try sync.add(port)
    try here.set(81, for: port)
    try withoutObservation {
      try here.removeAll()
      here["server.port"] = 82
    }
    sync.sync()
    #expect(try there.value(for: port) == 82)
  }

  @Test func `item 83: removing all without a sync is a fresh store, which pulls`() throws {
    do {
      let sync = sync(here, there)
      try sync.add(port)
      try here.set(81, for: port)
    }
    try here.removeAll()
    let sync = sync(here, there)
    try sync.add(port)
    #expect(try here.value(for: port) == 81)
  }

  // MARK: Keys

  @Test func `item 83: only added keys are synced`() throws {
    let sync = sync(here, there)
    try sync.add(port)
    try here.set("a", for: host)
    #expect(there.keys().isEmpty)
    #expect(sync.keys == ["server.port"])
  }

  @Test func `item 83: a removed key is not synced any more, and no observer remains for it`() throws {
    let (here, there) = (SealablePreferences(), SealablePreferences())
    let sync = sync(here, there)
    try sync.add(port, host)
    #expect(here.observerCount == 2 && there.observerCount == 2)
    sync.remove(port)
    #expect(here.observerCount == 1 && there.observerCount == 1)
    try here.set(81, for: port)
    try here.set("a", for: host)
    #expect(try there.storedValue(for: port) == nil)
    #expect(try there.value(for: host) == "a")
    sync.removeAll()
    #expect(here.observerCount == 0 && there.observerCount == 0)
  }

  @Test func `item 83: a key that is added twice is observed once`() throws {
    let here = SealablePreferences()
    let sync = sync(here, there)
    try sync.add(port)
    try sync.add(port)
    #expect(here.observerCount == 1)
  }

  @Test func `item 83: a sync without references ends`() throws {
    let here = SealablePreferences()
    do { try sync(here, there).add(port) }
    try here.set(81, for: port)
    #expect(here.observerCount == 0)
    #expect(there.keys().isEmpty)
  }

  @Test func `item 83: a name against the rule, or too long for its time, is refused`() {
    let sync = sync(here, there)
    for name in ["", String(repeating: "a", count: PreferenceName.maximumByteCount)] {
      #expect(preferencesError { try sync.add(PreferenceKey<Int>(name, default: 0)) }?.code == .invalidKey)
    }
    #expect(sync.keys.isEmpty)
  }

  @Test func `item 83: the time of a dictionary is kept beside it and not in it`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      let sync = sync(here, file)
      let key = PreferenceKey<[String: Int]>("server.limits", default: [:])
      try sync.add(key)
      try here.set(["a": 1], for: key)
      try file.set(["a": 1, "b": 2] as PreferenceValue, forKey: "server.limits")
      #expect(try here.value(for: key) == ["a": 1, "b": 2])
      #expect(try JSONPreferences(at: folder + "/a.json").value(for: key) == ["a": 1, "b": 2])
    }
  }

  @Test func `a key of a mounted store is synced, and its time is below the same prefix`() throws {
    let mounted = there.mounted(at: "app.")
    let sync = sync(here, mounted)
    let key = PreferenceKey<Int>("app.port", default: 80)
    try sync.add(key)
    try here.set(81, for: key)
    #expect(try there.integer(forKey: "port") == 81)
    #expect(try time(mounted, "app.port") == 1_000_000_000)
    #expect(there.keys() == ["port", "port@written"])
  }

  // MARK: Secrets

  private let password = PreferenceKey<String?>("password")

  @Test func `item 33: a sync never takes a sealed value into a plain store`() throws {
    let vault = SealablePreferences("vault", isSealed: true)
    let sync = sync(vault, there)
    #expect(preferencesError { try sync.add(password) }?.code == .noStore)
    #expect(sync.keys.isEmpty)
  }

  @Test func `item 33: a sync takes a sealed value from a sealed layer to a sealed layer, with its time`() throws {
    let (vault, other) = (SealablePreferences("vault", isSealed: true), SealablePreferences("other", isSealed: true))
    let sync = sync(
      CompositePreferences([here, vault.claiming(.names(["password"]))]),
      CompositePreferences([there, other.unclaimed]))
    try sync.add(password)
    try vault.set(sentinel, forKey: "password")
    #expect(try other.string(forKey: "password") == sentinel)
    #expect(try time(other, "password") != nil)
    #expect(here.keys().isEmpty && there.keys().isEmpty)
  }

  @Test func `item 83: what hides a key is not overruled and not taken for a write`() throws {
    let fixed = FixedPreferences(content: ["server.port": 9])
    try put(82, at: 5, in: there)
    let local: CompositePreferences = [fixed, here]
    let sync = sync(local, there)
    try sync.add(port)
    #expect(try here.value(for: port) == 82)
    sync.sync()
    #expect(try there.value(for: port) == 82)
  }
}
