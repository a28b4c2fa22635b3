import FoundationEssentials
import Glibc
import Preferences
import Testing

/// A store of a file keeps its file when the program changes its working directory. Each test has a process of its own.
struct WorkingDirectoryTests {
  private static func inTwoFolders(_ body: (_ first: String, _ second: String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "chdir-\(UUID())").path
    for name in ["/a", "/b"] {
      try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
    }
    defer { do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) } }
    try body(folder + "/a", folder + "/b")
  }

  @Test func `a relative path is resolved when the store is made`() async {
    await #expect(processExitsWith: .success) {
      try WorkingDirectoryTests.inTwoFolders { first, second in
        try #require(chdir(first) == 0)
        let stores: [any PreferencesStore] = [
          try JSONPreferences(at: "x.json", options: .creating),
          try PropertyListPreferences(at: "./x.plist", options: .creating),
          try DotenvPreferences(at: "new/../x.env", options: .creating),
        ]
        let explicit = try JSONPreferences(at: "y.json", options: [.creating, .savingExplicitly])
        try explicit.set(1, forKey: "k")
        try #require(chdir(second) == 0)
        for store in stores { try store.set("1", forKey: "k") }
        try explicit.save()
        #expect(try FileManager.default.contentsOfDirectory(atPath: second) == [])
        let files = try FileManager.default.contentsOfDirectory(atPath: first).filter { $0 != "new" }.sorted()
        #expect(files == ["x.env", "x.json", "x.plist", "y.json"])
        #expect(explicit.path == first + "/y.json")
        try #require(chdir("/") == 0)
        try explicit.reload()
        #expect(try explicit.integer(forKey: "k") == 1)
      }
    }
  }

  @Test func `an error names the path as it was given`() async {
    await #expect(processExitsWith: .success) {
      try WorkingDirectoryTests.inTwoFolders { first, _ in
        try #require(chdir(first) == 0)
        let error = #expect(throws: PreferencesError.self) { try JSONPreferences(at: "none.json") }
        #expect(error?.message.hasPrefix("JSON file \"none.json\": ") == true)
      }
    }
  }
}
