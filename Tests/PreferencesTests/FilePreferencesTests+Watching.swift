import FoundationEssentials
import Glibc
import Preferences
import Synchronization
import Testing

/// Notifications of what was saved, also by others.
extension FilePreferencesTests {
  @Test func `observers are notified of a key, of what is around it and of what is inside it`() throws {
    try withTemporaryFolder { folder in
      let store = try JSONPreferences(at: folder + "/a", options: .creating)
      try store.set(["b": ["c": 1, "d": 1]], forKey: "a")
      let received = Mutex<[Set<String>]>([])
      let observation = store.observe { change in received.withLock { $0.append(change.keys ?? []) } }
      try store.set(2, forKey: "a.b.c")
      try store.set(["b": ["c": 2]], forKey: "a")
      try store.set(["b": ["c": 2]], forKey: "a")
      observation.invalidate()
      #expect(received.withLock(\.self) == [["a", "a.b", "a.b.c"], ["a", "a.b", "a.b.d"]])
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 82: what another process changed is reported on reload`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(["a": 1, "b": 1, "c": 1])
      let received = Mutex<Set<String>>([])
      let observation = store.observe { change in received.withLock { $0.formUnion(change.keys ?? []) } }
      let other = try file.open(folder + "/a")
      try other.set(["a": 2, "d": 1])
      try other.removeValue(forKey: "b")
      try store.reload()
      observation.invalidate()
      #expect(received.withLock(\.self) == ["a", "b", "d"])
      #expect(try store.keys() == ["a", "c", "d"])
    }
  }

  @Test(arguments: FileCase.allCases)
  func `a write without observation, and a reload, hide no change of another process`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let (store, other) = (try file.open(folder + "/a"), try file.open(folder + "/a"))
      try store.set(["a": 1, "b": 1])
      let received = Mutex<[Set<String>]>([])
      let observation = store.observe { change in received.withLock { $0.append(change.keys ?? []) } }
      try other.set(2, forKey: "a")
      try withoutObservation { try store.set(2, forKey: "own") }
      try other.set(2, forKey: "b")
      try withoutObservation { try store.reload() }
      observation.invalidate()
      #expect(received.withLock(\.self) == [["a"], ["b"]])
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 82: a watched file is noticed when it is replaced, and when it is made`(file: FileCase) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try file.open(folder + "/a")
    let watch = try store.watch()
    var updates = store.updates(for: PreferenceKey<Int>("k", default: 0), buffering: .unbounded).makeAsyncIterator()
    #expect(await updates.next() == 0)
    try await file.open(folder + "/a").set(1, forKey: "k")
    #expect(await updates.next() == 1)
    try await file.open(folder + "/a").set(2, forKey: "k")
    #expect(await updates.next() == 2)
    unlink(folder + "/a")
    #expect(await updates.next() == 0)
    watch.invalidate()
  }

  @Test
  func `item 82: a file that is written in place, or behind a link that is changed, is noticed`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)").path
    for name in ["/cfg", "/cfg/v1", "/cfg/v2"] {
      try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
    }
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write("{\"k\": 1}", folder + "/cfg/v1/a")
    try write("{\"k\": 3}", folder + "/cfg/v2/a")
    #expect(symlink("v1", folder + "/cfg/now") == 0)
    #expect(symlink("now/a", folder + "/cfg/a") == 0)
    let store = try JSONPreferences(at: folder + "/cfg/a")
    let watch = try await store.watch()
    var updates = store.updates(for: PreferenceKey<Int>("k", default: 0), buffering: .unbounded).makeAsyncIterator()
    #expect(await updates.next() == 1)
    try write("{\"k\": 2}", folder + "/cfg/v1/a")
    #expect(await updates.next() == 2)
    #expect(symlink("v2", folder + "/cfg/next") == 0)
    #expect(rename(folder + "/cfg/next", folder + "/cfg/now") == 0)
    #expect(await updates.next() == 3)
    try write("{\"k\": 4}", folder + "/cfg/v2/a")
    #expect(await updates.next() == 4)
    watch.invalidate()
  }

  @Test
  func `a watched file that becomes malformed leaves the values, and the watch continues`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write("{\"k\": 1}", folder + "/a")
    let store = try JSONPreferences(at: folder + "/a")
    let watch = try await store.watch()
    var updates = store.updates(for: PreferenceKey<Int>("k", default: 0), buffering: .unbounded).makeAsyncIterator()
    #expect(await updates.next() == 1)
    try write("{", folder + "/b")
    #expect(rename(folder + "/b", folder + "/a") == 0)
    try write("{\"k\": 2}", folder + "/b")
    #expect(rename(folder + "/b", folder + "/a") == 0)
    #expect(await updates.next() == 2)
    watch.invalidate()
  }

  @Test func `a folder that is not there cannot be watched`() throws {
    try withTemporaryFolder { folder in
      try FileManager.default.createDirectory(atPath: folder + "/none", withIntermediateDirectories: false)
      try write("{}", folder + "/none/a")
      let store = try JSONPreferences(at: folder + "/none/a")
      try FileManager.default.removeItem(atPath: folder + "/none")
      #expect(preferencesError { _ = try store.watch() }?.code == .unreadable)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `a watch makes the folder of a file that is to be created, and notices the file`(file: FileCase) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try file.open(folder + "/x/a")
    let watch = try store.watch()
    #expect(FileManager.default.fileExists(atPath: folder + "/x"))
    var updates = store.updates(for: PreferenceKey<Int>("k", default: 0), buffering: .unbounded).makeAsyncIterator()
    #expect(await updates.next() == 0)
    try await file.open(folder + "/x/a").set(1, forKey: "k")
    #expect(await updates.next() == 1)
    watch.invalidate()
  }

  @Test(arguments: FileCase.allCases)
  func `a name inside a dictionary is written in its new composition, and observers are notified`(
    file: FileCase
  ) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      let decomposed: PreferenceValue = ["cafe\u{301}": 1]
      try store.set(["caf\u{E9}": 1] as PreferenceValue, forKey: "d")
      let changes = Mutex(0)
      let observation = store.observe { _ in changes.withLock { $0 += 1 } }
      try store.set(decomposed, forKey: "d")
      observation.invalidate()
      #expect(changes.withLock(\.self) == 1)
      #expect(try store.value(forKey: "d")?.isIdentical(to: decomposed) == true)
      #expect(try file.open(folder + "/a").value(forKey: "d")?.isIdentical(to: decomposed) == true)
    }
  }
}
