import FoundationEssentials
import Glibc
import Preferences
import PreferencesTestSupport
import SyncFaulting
import Synchronization
import Testing

/// Saving.
extension FilePreferencesTests {
  @Test func `a file that another process is writing for too long is unwritable, and stays as it was`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.json"
      try "{}".write(toFile: path, atomically: false, encoding: .utf8)
      let stopped = open(path, O_RDONLY)
      defer { close(stopped) }
      try #require(flock(stopped, LOCK_EX) == 0)
      let error = preferencesError { try FileReplacement(path, waiting: .milliseconds(1))(upTo: 9) { _ in [1] } }
      #expect(error?.code == .unwritable)
      #expect(error?.message.contains("another process has been writing it") == true)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "{}")
    }
  }

  @Test func `a file that is replaced while an edit outlasts the wait keeps what the other program has written`() throws
  {
    try withTemporaryFolder { folder in
      let path = folder + "/a"
      try "old".write(toFile: path, atomically: false, encoding: .utf8)
      let error = preferencesError {
        try FileReplacement(path, waiting: .milliseconds(1))(upTo: 9) { _ in
          #expect(throws: Never.self) { try "other".write(toFile: path, atomically: true, encoding: .utf8) }
          usleep(2_000)
          return [1]
        }
      }
      #expect(error?.code == .unwritable)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "other")
    }
  }

  @Test(arguments: [nil, "old"])
  func `a file that is created or replaced while it is edited is edited again`(old: String?) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a"
      try old?.write(toFile: path, atomically: false, encoding: .utf8)
      var seen: [[UInt8]?] = []
      try FileReplacement(path)(upTo: 9) { content in
        seen.append(content)
        if seen.count == 1 {
          #expect(FileManager.default.createFile(atPath: path + ".other", contents: Data("new".utf8)))
          #expect(rename(path + ".other", path) == 0)
        }
        return (content ?? []) + Array("+".utf8)
      }
      #expect(seen == [old.map { Array($0.utf8) }, Array("new".utf8)])
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "new+")
      #expect(try names(folder) == ["a"])
    }
  }

  @Test(.enabled(if: AccessList.isSupported, "the file system has no access control lists"))
  func `a file keeps its access control list, so that its group gets no rights`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.json"
      try "{}".write(toFile: path, atomically: false, encoding: .utf8)
      try #require(AccessList.isSet(on: path))
      try JSONPreferences(at: path).set(1, forKey: "port")
      #expect(AccessList.of(path) == AccessList.bytes())
    }
  }

  @Test(arguments: FileCase.allCases)
  func `a write whose folder cannot be synced throws, and its values are read and observed`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      let changes = Mutex<[PreferenceChange]>([])
      let observation = store.observe { change in changes.withLock { $0.append(change) } }
      let error = SyncFault.with {
        SyncFault.isDirectory($0) ? EIO : nil
      } during: {
        preferencesError { try store.set("new", forKey: "port") }
      }
      #expect(error?.code.rawValue == "durabilityUnknown")
      #expect(try store.string(forKey: "port") == "new")
      #expect(changes.withLock { $0.count == 1 && $0[0].concerns("port") })
      #expect(try file.open(folder + "/a").string(forKey: "port") == "new")
      withExtendedLifetime(observation) {}
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 12: a write is in the file when it returns`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(1, forKey: "k")
      #expect(store.hasUnsavedChanges == false)
      #expect(try file.open(folder + "/a").integer(forKey: "k") == 1)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 12: saving explicitly, nothing is in the file before`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a", [.creating, .savingExplicitly])
      try store.set(["a": 1, "b": 2])
      #expect(try names(folder) == [])
      try store.save()
      try store.removeValue(forKey: "a")
      #expect(try store.keys() == ["b"])
      #expect(store.hasUnsavedChanges)
      #expect(try file.open(folder + "/a").keys() == ["a", "b"])
      try store.save()
      #expect(store.hasUnsavedChanges == false)
      #expect(try file.open(folder + "/a").keys() == ["b"])
      try store.removeAll()
      #expect(try file.open(folder + "/a").keys() == ["b"])
      try store.save()
      #expect(try file.open(folder + "/a").keys() == [])
    }
  }

  @Test(arguments: FileCase.allCases, ["", "a."])
  func `item 12: saving keeps a name with a dot beside the dictionary that it leads into`(
    file: FileCase, prefix: String
  ) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a", [.creating, .savingExplicitly])
      try store.set(["other": 1] as PreferenceValue, forKey: "a")
      try store.save()
      try store.set(1, forKey: prefix + "server.port")
      try store.set(["port": 2] as PreferenceValue, forKey: prefix + "server")
      let reopened = {
        try store.save()
        return try file.open(folder + "/a")
      }
      for reader in [store, try reopened(), store] {
        #expect(try reader.value(forKey: prefix + "server.port") == 1)
        #expect(try reader.value(forKey: prefix + "server") == ["port": 2])
      }
      try store.set(3, forKey: prefix + "server.port")
      for reader in [store, try reopened()] {
        #expect(try reader.value(forKey: prefix + "server.port") == 3)
        #expect(try reader.value(forKey: prefix + "server") == ["port": 2])
      }
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 12: reloading keeps what is not saved`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a", [.creating, .savingExplicitly])
      let other = try file.open(folder + "/a")
      try store.set("mine", forKey: "k")
      try other.set(["k": "theirs", "l": "theirs"])
      #expect(try store.string(forKey: "l") == nil)
      try store.reload()
      #expect(try store.string(forKey: "k") == "mine")
      #expect(try store.string(forKey: "l") == "theirs")
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 12: a failed automatic save reaches the caller, and the old value stays`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      #expect(mkdir(folder + "/sub", 0o700) == 0)
      let store = try file.open(folder + "/sub/a")
      try store.set(1, forKey: "k")
      try FileManager.default.removeItem(atPath: folder + "/sub")
      // In the way of the folder.
      try Data().write(to: URL(filePath: folder + "/sub"))
      #expect(preferencesError { try store.set(2, forKey: "k") }?.code == .unwritable)
      #expect(preferencesError { try store.removeValue(forKey: "k") }?.code == .unwritable)
      #expect(try store.integer(forKey: "k") == 1)
    }
  }

  @Test func `item 12: what a save could not write still waits`() throws {
    try withTemporaryFolder { folder in
      let store = try JSONPreferences(at: folder + "/sub/a", options: [.creating, .savingExplicitly])
      try store.set(1, forKey: "k")
      // In the way of the folder.
      try Data().write(to: URL(filePath: folder + "/sub"))
      #expect(preferencesError { try store.save() }?.code == .unwritable)
      #expect(store.hasUnsavedChanges)
      try FileManager.default.removeItem(atPath: folder + "/sub")
      try store.save()
      #expect(try JSONPreferences(at: folder + "/sub/a").integer(forKey: "k") == 1)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 13: a process that is killed while it writes leaves the old file, and blocks no other`(
    file: FileCase
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await file.open(folder + "/a").set("old", forKey: "k")
    let before = try bytes(folder + "/a")

    await #expect(processExitsWith: .signal(SIGXFSZ)) { [folder = folder as String, file = file.rawValue as String] in
      // The kernel kills it in the middle of the file that it writes, unless the thread or the parent has been spared.
      signal(SIGXFSZ, SIG_DFL)
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGXFSZ)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      var limit = rlimit(rlim_cur: 2_000, rlim_max: 2_000)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let store = try #require(try FileCase(rawValue: file)?.open(folder + "/a"))
      try store.set(String(repeating: "new", count: 10_000), forKey: "k")
    }

    #expect(try names(folder) == ["a"])
    #expect(try bytes(folder + "/a") == before)
    try await file.open(folder + "/a").set("next", forKey: "l")
    #expect(try file.open(folder + "/a").keys() == ["k", "l"])
    #expect(try names(folder) == ["a"])
  }

  @Test func `item 14: two processes that write different keys lose neither`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/a"
    async let here: Void = Task.detached {
      let store = try JSONPreferences(at: path, options: .creating)
      for index in 0..<50 { try store.set(index, forKey: "here.\(index)") }
    }.value
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try JSONPreferences(at: path, options: .creating)
      for index in 0..<50 { try store.set(index, forKey: "there.\(index)") }
    }
    try await here
    #expect(try JSONPreferences(at: path).keys().count == 100)
  }

  @Test(arguments: FileCase.allCases)
  func `item 14: writers that make the file at the same time lose nothing`(file: FileCase) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          let store = try file.open(folder + "/a")
          for index in 0..<10 { try store.set(index, forKey: "\(task).\(index)") }
        }
      }
      try await group.waitForAll()
    }
    #expect(try file.open(folder + "/a").keys().count == 40)
    #expect(try names(folder) == ["a"])
  }

  @Test(arguments: FileCase.allCases)
  func `item 14: saving explicitly carries only what was written here`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      try file.open(folder + "/a").set(["server": ["port": 1, "host": "old"], "other": 1])
      let store = try file.open(folder + "/a", .savingExplicitly)
      let other = try file.open(folder + "/a", .savingExplicitly)
      try store.set(2, forKey: "server.port")
      try store.removeValue(forKey: "other")
      try other.set("new", forKey: "server.host")
      try other.set(1.5, forKey: "added")
      try store.save()
      try other.save()
      let result = try file.open(folder + "/a")
      #expect(try result.value(forKey: "server") == ["port": 2, "host": "new"])
      #expect(try result.keys() == ["added", "server.host", "server.port"])
    }
  }

  @Test func `a write of the value that was read is written over another process's`() throws {
    try withTemporaryFolder { folder in
      try JSONPreferences(at: folder + "/a", options: .creating).set(1, forKey: "k")
      let store = try JSONPreferences(at: folder + "/a", options: .savingExplicitly)
      try JSONPreferences(at: folder + "/a").set(2, forKey: "k")
      try store.set(1, forKey: "k")
      try store.save()
      #expect(try JSONPreferences(at: folder + "/a").integer(forKey: "k") == 1)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `no description, dump or error shows a value`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(sentinel, forKey: "k")
      #expect(!dumped(store).contains(sentinel))
      #expect(!String(describing: store).contains(sentinel))
      let error = try #require(preferencesError { _ = try store.date(forKey: "k") })
      #expect(!error.description.contains(sentinel))
    }
  }
}
