import Foundation
import Preferences
import PreferencesTestSupport
import Testing

// In a file, `server.port` may be a member of the dictionary `server`.
extension MigrationTests {
  private func migrated(
    _ text: String, _ steps: [PreferenceMigration.Step], runs: Int = 1
  ) throws -> [String: PreferenceValue] {
    var values: [String: PreferenceValue] = [:]
    try withTemporaryFolder { folder in
      let store = try file(folder, text)
      let migrator = try PreferenceMigrator([PreferenceMigration(to: 1, steps)])
      for run in 1...runs { #expect(try migrator.run(on: store) == (run == 1 ? [1] : [])) }
      values = try JSONPreferences(at: store.path).dictionary()
    }
    return values
  }

  private func file(_ folder: String, _ text: String) throws -> JSONPreferences {
    let path = folder + "/settings.json"
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return try JSONPreferences(at: path)
  }

  private static let text = #"{"port":1,"server":{"host":"a"}}"#

  @Test func `the version is not among the values of a dictionary, whatever the store is mounted at`() throws {
    let text = #"{"port":1,"preferences":{"theme":"dark"},"shop":{"port":2}}"#
    try withTemporaryFolder { folder in
      let store = try file(folder, text)
      let migrator = try PreferenceMigrator([PreferenceMigration(to: 1, [.rename("port", to: "number")])])
      #expect(try migrator.run(on: store) == [1])
      #expect(try migrator.run(on: store.below("shop.")) == [1])
      #expect(try migrator.run(on: store.below("shop.")) == [])
      let again = try JSONPreferences(at: store.path)
      #expect(try again.value(forKey: "preferences") == ["theme": "dark"])
      #expect(try again.value(forKey: "shop") == ["number": 2])
      #expect(try migrator.version(of: again.below("shop.")) == 1)
    }
  }

  @Test func `a version that an earlier release has stored is moved by the next migration`() throws {
    try withTemporaryFolder { folder in
      let store = try file(folder, #"{"port":1,"preferences":{"theme":"dark","version":1}}"#)
      let first = PreferenceMigration(to: 1, [.remove("port")])
      let migrator = try PreferenceMigrator([first, PreferenceMigration(to: 2, [.rename("port", to: "number")])])
      #expect(try migrator.version(of: store) == 1)
      #expect(try PreferenceMigrator([first]).run(on: store) == [])
      #expect(try migrator.run(on: store) == [2])
      let values = try JSONPreferences(at: store.path).dictionary()
      #expect(values == ["number": 1, "preferences": ["theme": "dark"], "preferences@version": 2])
    }
  }

  @Test func `a value of the program under the earlier name is no version`() throws {
    try withTemporaryFolder { folder in
      let store = try file(folder, #"{"port":1,"preferences":{"version":"2.4"}}"#)
      let migrator = try PreferenceMigrator([PreferenceMigration(to: 1, [.remove("port")])])
      #expect(try migrator.run(on: store) == [1])
      #expect(try store.string(forKey: "preferences.version") == "2.4")
    }
  }

  @Test func `a value that moves into a removed dictionary of a file is kept`() throws {
    let steps: [PreferenceMigration.Step] = [.remove("server"), .rename("port", to: "server.port")]
    #expect(try migrated(Self.text, steps, runs: 2) == ["server.port": 1, "preferences@version": 1])
  }

  @Test func `a dictionary of a file that moves to a name inside itself is kept`() throws {
    let values = try migrated(Self.text, [.rename("server", to: "server.v2")], runs: 2)
    #expect(values == ["port": 1, "server.v2": ["host": "a"], "preferences@version": 1])
  }

  @Test func `a run that ended before other removals is finished, and keeps what moved into a removed dictionary`()
    throws
  {
    try withTemporaryFolder { folder in
      let store = try file(folder, Self.text)
      let migrator = try PreferenceMigrator([
        PreferenceMigration(to: 1, [.remove("server"), .rename("port", to: "server.port")])
      ])
      #expect(throws: FailingPreferences.Locked.self) { try migrator.run(on: FailingRemoval(base: store, key: "port")) }
      #expect(try store.integer(forKey: "server.port") == 1)
      #expect(try store.integer(forKey: "port") == 1)
      #expect(try migrator.run(on: store) == [])
      #expect(try store.dictionary() == ["server.port": 1, "preferences@version": 1])
    }
  }
}

/// A store that fails at the removal of a name.
private struct FailingRemoval: PreferencesStore {
  let base: JSONPreferences
  let key: String
  let name = "failing removal"

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { try base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    for edit in edits.edits where edit.content == nil && edit.name.text == key { throw FailingPreferences.Locked() }
    return try base.apply(edits)
  }
}
