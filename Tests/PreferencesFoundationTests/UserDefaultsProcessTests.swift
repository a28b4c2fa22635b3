import Foundation
import Glibc
import PreferencesOperators
import Preferences
import PreferencesFoundation
import Testing

/// A suite with other processes, and what only a process of its own can show.
struct UserDefaultsProcessTests {
  @Test func `items 14 and 18: another process reads these values, and its values are read here`() async throws {
    try await withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try await store.set(UserDefaultsPreferencesTests.values)
      await #expect(processExitsWith: .success) { [folder = folder as String] in
        let store = try UserDefaultsPreferences(suiteName: folder + "/a")
        for (key, value) in UserDefaultsPreferencesTests.values {
          #expect(try store.value(forKey: key) == value, "\(key)")
        }
        try store.set("theirs", forKey: "answer")
        try store.removeValue(forKey: "one")
        // Ends at once, with nothing called that might still save.
        _exit(0)
      }
      #expect(try store.contains("answer") == false)
      try await store.reload()
      #expect(try store.string(forKey: "answer") == "theirs")
      #expect(try store.contains("one") == false)
    }
  }

  @Test func `item 14: three processes that write different keys at once lose none`() async throws {
    try await withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      await withTaskGroup(of: Void.self) { group in
        for name in ["b", "c"] {
          group.addTask {
            _ = await #expect(processExitsWith: .success) { [folder = folder as String, name = name as String] in
              let store = try UserDefaultsPreferences(suiteName: folder + "/a")
              for round in 0..<40 { try store.set(round, forKey: "\(name)\(round)") }
            }
          }
        }
        group.addTask {
          #expect(throws: Never.self) { for round in 0..<40 { try store.set(round, forKey: "a\(round)") } }
        }
      }
      try await store.reload()
      let expected = ["a", "b", "c"].flatMap { name in (0..<40).map { "\(name)\($0)" } }
      #expect(try store.keys() == expected.sorted())
    }
  }

  @Test
  func `item 82: another process's change is noticed at once while the suite is watched`() async throws {
    try await withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/new/a")
      let watch = try await store.watch()
      let updates = store.updates(for: PreferenceKey<Int>("k", default: 0))
      await #expect(processExitsWith: .success) { [folder = folder as String] in
        let foundation = try #require(UserDefaults(suiteName: folder + "/new/a"))
        foundation.set(7, forKey: "k")
        #expect(foundation.synchronize())
      }
      for await value in updates where value == 7 { break }
      watch.invalidate()
    }
  }

  @Test(arguments: [
    (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/"), (["HOME": "/h"], "/h/.config/"),
    (["XDG_CONFIG_HOME": "relative", "HOME": "/h"], "/h/.config/"), ([:], "/.config/"),
  ])
  func `item 18: suites are where the environment says`(environment: [String: String], folder: String) async {
    await #expect(processExitsWith: .success) {
      [environment = environment as [String: String], folder = folder as String] in
      for name in ["XDG_CONFIG_HOME", "HOME"] { unsetenv(name) }
      for (name, value) in environment { setenv(name, value, 1) }
      #expect(UserDefaultsPreferences.standard.path.hasPrefix(folder))
      let suite = try UserDefaultsPreferences(suiteName: "com.example.shop")
      #expect(suite.path == folder + "com.example.shop.plist")
    }
  }

  static let isAwayFromHome =
    ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"]?.hasPrefix(
      FileManager.default.temporaryDirectory.path) ?? false

  // Foundation looks at the environment once, when the process starts. So this one is for a process that was started
  // with a folder of its own for settings, as Scripts/test does; it writes nothing in the user's home.
  @Test(.enabled(if: isAwayFromHome, "XDG_CONFIG_HOME is not in the folder for temporary files"))
  func `item 18: the program's own defaults, and suites by name, are where Foundation keeps them`() async {
    await #expect(processExitsWith: .success) {
      let unique = "preferences-\(UUID().uuidString)"
      for name in [nil, "com.example", "a b", "é🦊.x", "e\u{301}", "sub/suite", "%41", "~a", "a?b#c;d:e&"] as [String?] {
        let suiteName = name.map { "\(unique)/\($0)" }
        let foundation = try #require(UserDefaults(suiteName: suiteName))
        foundation.set("theirs", forKey: unique)
        #expect(foundation.synchronize())
        let store = try suiteName.map { try UserDefaultsPreferences(suiteName: $0) } ?? .standard
        #expect(try store.string(forKey: unique) == "theirs", "\(store)")
        try store.set("ours", forKey: unique)
        #expect(foundation.string(forKey: unique) == "ours", "\(store)")
        foundation.removeObject(forKey: unique)
        // Foundation takes away a file that has no more values.
        #expect(foundation.synchronize())
        #expect(try store.contains(unique))
        try store.reload()
        #expect(try store.contains(unique) == false)
        let folder = URL(filePath: store.path).deletingLastPathComponent()
        if folder.lastPathComponent == unique { try FileManager.default.removeItem(at: folder) }
      }
      @StoredPreference("absent", in: UserDefaultsPreferences.standard) var absent = "default"
      #expect(absent == "default")
    }
  }

  @Test func `item 18: the program's own defaults are read at the first lookup, which throws their errors`()
    async throws
  {
    try await withTemporaryFolder { folder in
      await #expect(processExitsWith: .success) { [folder = folder as String] in
        setenv("XDG_CONFIG_HOME", folder, 1)
        let store = UserDefaultsPreferences.standard
        try "damaged".write(toFile: store.path, atomically: true, encoding: .utf8)
        try settle(store.path)
        #expect(preferencesError { _ = try store.value(forKey: "k") }?.code == .malformed)
        #expect(preferencesError { _ = try store.keys() }?.code == .malformed)
        #expect(preferencesError { try store.set(1, forKey: "k") }?.code == .malformed)
        try FileManager.default.removeItem(atPath: store.path)
        #expect(try store.value(forKey: "k") == nil)
        try store.set(1, forKey: "k")
        #expect(try store.integer(forKey: "k") == 1)
      }
    }
  }

  // In a process of its own: elsewhere other tests have Foundation write.
  @Test func `item 11: a damaged file is not written over by what Foundation's object has waiting`() async throws {
    try await withTemporaryFolder { folder in
      await #expect(processExitsWith: .success) { [folder = folder as String] in
        let store = try UserDefaultsPreferences(suiteName: folder + "/a")
        try store.set("old", forKey: "k")
        try #require(UserDefaults(suiteName: folder + "/a")).set("waiting", forKey: "w")
        try "damaged".write(toFile: store.path, atomically: true, encoding: .utf8)
        try settle(store.path)
        for change in [
          { try store.set(1, forKey: "k") }, { try store.removeAll() }, { try store.reload() },
          { _ = try UserDefaultsPreferences(suiteName: folder + "/a") },
        ] as [() throws -> Void] {
          #expect(preferencesError(change)?.code == .malformed)
        }
        #expect(try String(contentsOfFile: store.path, encoding: .utf8) == "damaged")
        _exit(0)
      }
    }
  }

  @Test func `items 8 and 18: the trap, the hang and the lost zero of Foundation's object are out of reach`()
    async throws
  {
    // What the store is walled off from; when one of these changes, its documentation may, too.
    await #expect(processExitsWith: .failure) {
      UserDefaults(suiteName: "/nonexistent/a")?.set(Set([1]), forKey: "k")
    }
    try withTemporaryFolder { folder in
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.set(1, forKey: "k")
      foundation.synchronize()
      foundation.set(1.0, forKey: "k")
      foundation.synchronize()
      #expect(try PropertyListPreferences(at: folder + "/a.plist").value(forKey: "k") == 1)
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(1.0, forKey: "k")
      #expect(try PropertyListPreferences(at: folder + "/a.plist").value(forKey: "k") == 1.0)
    }
  }
}
