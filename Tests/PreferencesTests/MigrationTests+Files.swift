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

  @Test func `a value of the program in a dictionary with that name is no version`() throws {
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

  // MARK: Names that lead into each other

  private func expect(
    _ steps: [PreferenceMigration.Step], leave left: [String: PreferenceValue],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let values = try migrated(#"{"port":1,"server":{"host":"a","old":2}}"#, steps, runs: 2)
    let expected = left.merging(["preferences@version": 1]) { old, _ in old }
    #expect(values == expected, sourceLocation: sourceLocation)
  }

  @Test func `in a file, a dictionary moves with what earlier steps did inside`() throws {
    let moving = PreferenceMigration.Step.rename("server", to: "web")
    try expect([.remove("server.old"), moving], leave: ["port": 1, "web": ["host": "a"]])
    try expect([.rename("server.host", to: "host"), moving], leave: ["port": 1, "host": "a", "web": ["old": 2]])
    try expect([.convert("server.old") { _ in 3 }, moving], leave: ["port": 1, "web": ["host": "a", "old": 3]])
    try expect([.rename("port", to: "server.port"), moving], leave: ["web": ["host": "a", "old": 2, "port": 1]])
  }

  @Test func `in a file, a step sees what earlier steps did to the dictionary around its name`() throws {
    let moving = PreferenceMigration.Step.rename("server", to: "web")
    try expect([moving, .convert("web.old") { _ in 3 }], leave: ["port": 1, "web": ["host": "a", "old": 3]])
    try expect([moving, .remove("web.old")], leave: ["port": 1, "web": ["host": "a"]])
    try expect([moving, .rename("web.old", to: "server")], leave: ["port": 1, "web": ["host": "a"], "server": 2])
  }

  @Test func `in a file, a dictionary and its entry are converted in either order`() throws {
    let entry = PreferenceMigration.Step.convert("server.old") { value in value == 3 ? 4 : 5 }
    let whole = PreferenceMigration.Step.convert("server") { value in
      value == ["host": "a", "old": 5] ? ["b": 4] : ["old": 3]
    }
    try expect([whole, entry], leave: ["port": 1, "server": ["old": 4]])
    try expect([entry, whole], leave: ["port": 1, "server": ["b": 4]])
  }

  private static let login = #"{"server":{"host":"a","password":"p"}}"#

  @Test func `in a file, what is sealed does not stay in the dictionary that moves, before it or after`() throws {
    let tokens = SealedPreferences()
    let before: [PreferenceMigration.Step] = [
      .seal("server.password", as: "pw", into: tokens), .rename("server", to: "web"),
    ]
    let after: [PreferenceMigration.Step] = [
      .rename("server", to: "web"), .seal("web.password", as: "pw", into: tokens),
    ]
    for steps in [before, after] {
      #expect(try migrated(Self.login, steps, runs: 2) == ["web": ["host": "a"], "preferences@version": 1])
      #expect(try tokens.secretValue(forKey: "pw") == "p")
      try tokens.setSecret(nil, forKey: "pw")
    }
  }

  @Test func `a run that ended before the removals has what was sealed and what moved, and is finished`() throws {
    try withTemporaryFolder { folder in
      let (store, tokens) = (try file(folder, Self.login), SealedPreferences())
      let migrator = try PreferenceMigrator([
        PreferenceMigration(
          to: 1, [.seal("server.password", as: "pw", into: tokens), .rename("server", to: "web")])
      ])
      let failing = FailingRemoval(base: store, key: "server")
      #expect(throws: FailingPreferences.Locked.self) { try migrator.run(on: failing) }
      #expect(try tokens.secretValue(forKey: "pw") == "p")
      #expect(try store.value(forKey: "web") == ["host": "a"])
      #expect(try store.value(forKey: "server") == ["host": "a", "password": "p"])
      #expect(try migrator.run(on: store) == [])
      #expect(try store.dictionary() == ["web": ["host": "a"], "preferences@version": 1])
    }
  }

  @Test func `in a composite or a view of a file, a step that reads what an earlier one has changed is a conflict`()
    throws
  {
    try withTemporaryFolder { folder in
      let (store, tokens) = (try file(folder, Self.login), SealedPreferences())
      let sealing = PreferenceMigration.Step.seal("server.password", as: "pw", into: tokens)
      let moving = PreferenceMigration.Step.rename("server", to: "web")
      let after = PreferenceMigration.Step.seal("web.password", as: "pw", into: tokens)
      let stores: [any PreferencesStore] = [
        CompositePreferences([tokens.unclaimed, store]), try store.renaming(["other": "o"]),
      ]
      for layered in stores {
        for steps in [[sealing, moving], [moving, after]] {
          let migrator = try PreferenceMigrator([PreferenceMigration(to: 1, steps)])
          #expect(preferencesError { try migrator.run(on: layered) }?.code == .conflict)
          #expect(try store.dictionary() == ["server": ["host": "a", "password": "p"]])
          #expect(try tokens.secretValue(forKey: "pw") == nil)
        }
      }
      let apart = try PreferenceMigrator([PreferenceMigration(to: 1, [sealing]), PreferenceMigration(to: 2, [moving])])
      #expect(try apart.run(on: stores[0]) == [1, 2])
      #expect(try store.dictionary() == ["web": ["host": "a"], "preferences@version": 2])
    }
  }
}

/// A store that fails at the removal of a name.
private struct FailingRemoval: PreviewingStore {
  let base: JSONPreferences
  let key: String
  let name = "failing removal"

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { try base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func preview(of edits: PreferenceEdits) throws -> any PreferencesReader { try base.preview(of: edits) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    for edit in edits.edits where edit.content == nil && edit.name.text == key { throw FailingPreferences.Locked() }
    return try base.apply(edits)
  }
}
