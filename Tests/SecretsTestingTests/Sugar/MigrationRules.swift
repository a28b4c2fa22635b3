import Preferences
@testable import SecretsTesting
import Testing

private let content: [String: PreferenceValue] = ["port": "8080", "token": "t0ken", "host": "a"]

private struct Stopped: Error {}

/// A store that holds `content`.
private func makeOldStore(_ fixture: StoreFixture) throws -> any PreferencesStore {
  let store = try fixture.makeStore()
  try store.set(content)
  return store
}

private func makeVault(_ fixture: StoreFixture) throws -> any PreferencesStore {
  let vault = try ThrowawayVault()
  fixture.keep(vault)
  return try vault.preferences()
}

private func migrator(_ steps: [PreferenceMigration.Step]...) throws -> PreferenceMigrator {
  try PreferenceMigrator(steps.enumerated().map { PreferenceMigration(to: $0.offset + 1, $0.element) })
}

extension PreferencesReader {
  fileprivate var everything: [String: PreferenceValue] { get throws { try dictionary(revealingSecrets: true) } }
}

extension ConformanceRule {
  /// Migrations, with the store as the migrated store and as the destination of secrets.
  static let migrations = [
    ConformanceRule(49, "migrations run in the order of their versions, each once, also after reopening") { fixture in
      let store = try makeOldStore(fixture)
      let ran = Collected<Int>()
      let migrations = [3, 1, 2].map { version in
        let step = PreferenceMigration.Step.convert("host") {
          ran.append(version)
          return $0
        }
        return PreferenceMigration(to: version, [step])
      }
      #expect(try PreferenceMigrator(Array(migrations.dropFirst())).run(on: store) == [1, 2])
      let reopened = try fixture.reopened(store)
      #expect(try PreferenceMigrator(migrations).run(on: reopened) == [3])
      #expect(try PreferenceMigrator(migrations).run(on: reopened) == [])
      #expect(ran.all == [1, 2, 3])
      #expect(try PreferenceMigrator([]).version(of: fixture.reopened(reopened)) == 3)
    },
    ConformanceRule(49, "a migration renames keys, changes how values are stored, and removes some") { fixture in
      let store = try makeOldStore(fixture)
      let (text, number) = (PreferenceKey<String?>("port"), PreferenceKey("server port", default: 0))
      let migrator = try migrator(
        [.rename("host", to: "h"), .rename("h", to: "peer"), .convert("peer") { [$0] }],
        [.convert(text, to: number) { Int($0 ?? "") ?? 0 }, .remove("token")])
      #expect(try migrator.run(on: store) == [1, 2])
      let expected: [String: PreferenceValue] = ["peer": ["a"], "server port": 8080, migrator.versionKey: 2]
      #expect(try store.everything == expected)
      #expect(try fixture.reopened(store).everything == expected)
    },
    ConformanceRule(49, "a plain value moves from this store into a vault, and the plain copy is erased") { fixture in
      let store = try makeOldStore(fixture)
      let vault = try makeVault(fixture)
      let migrator = try migrator([.seal("token", as: "github", into: vault)])
      try migrator.run(on: store)
      #expect(try vault.value(forKey: "github") == "t0ken")
      #expect(try fixture.reopened(store).everything == ["port": "8080", "host": "a", migrator.versionKey: 1])
      #expect(try migrator.run(on: fixture.reopened(store)) == [])
    },
    ConformanceRule(49, "a plain value moves into this store if it seals, and stays where it is if not") { fixture in
      let (plain, store) = (DictionaryPreferences(content), try fixture.makeStore())
      let migrator = try migrator([.seal("token", as: "github", into: store)])
      if store.custody.takes(.secret) {
        try migrator.run(on: plain)
        #expect(try fixture.reopened(store).everything == ["github": "t0ken"])
        #expect(try fixture.reopened(store).value(for: PreferenceQuery("github", secrecy: .secret)) == "t0ken")
        #expect(try plain.value(forKey: "token") == nil)
      } else {
        let error = #expect(throws: PreferencesError.self) { try migrator.run(on: plain) }
        #expect(error?.code == .noStore)
        #expect(try plain.dictionary() == content)
        #expect(try store.everything.isEmpty)
      }
    },
    ConformanceRule(49, "a step that fails leaves this store and the vault as they were") { fixture in
      let store = try makeOldStore(fixture)
      let vault = try makeVault(fixture)
      let steps: [PreferenceMigration.Step] = [
        .seal("token", into: vault), .rename("port", to: "server port"), .remove("host"),
      ]
      for place in 0...steps.count {
        var steps = steps
        steps.insert(.convert(place < 2 ? "port" : "server port") { _ in throw Stopped() }, at: place)
        #expect(throws: Stopped.self) { try migrator(steps).run(on: store) }
        #expect(try store.everything == content)
        #expect(try fixture.reopened(store).everything == content)
        #expect(try vault.keys().isEmpty)
      }
    },
    ConformanceRule(49, "sealing that fails leaves this store as it was") { fixture in
      let store = try makeOldStore(fixture)
      let forgetful = RecordPreferences(isSealed: true, keys: { [] }, get: { _ in nil }, set: { _, _ in })
      let failing = RecordPreferences(isSealed: true, keys: { [] }, get: { _ in nil }, set: { _, _ in throw Stopped() })
      let steps: (any PreferencesStore) -> [PreferenceMigration.Step] = {
        [.rename("port", to: "server port"), .seal("token", into: $0)]
      }
      let error = #expect(throws: PreferencesError.self) { try migrator(steps(forgetful)).run(on: store) }
      #expect(error?.code == .unavailable)
      #expect(throws: Stopped.self) { try migrator(steps(failing)).run(on: store) }
      #expect(try fixture.reopened(store).everything == content)
      try migrator(steps(makeVault(fixture))).run(on: store)
      #expect(try store.value(forKey: "token") == nil)
    },
    ConformanceRule(49, "a different value at the destination is a conflict, and both stay") { fixture in
      let store = try makeOldStore(fixture)
      let vault = try makeVault(fixture)
      try vault.set("newer", forKey: "token")
      for step in [PreferenceMigration.Step.rename("port", to: "host"), .seal("token", into: vault)] {
        let error = #expect(throws: PreferencesError.self) { try migrator([step]).run(on: store) }
        #expect(error?.code == .conflict)
      }
      #expect(try store.everything == content)
      #expect(try vault.value(forKey: "token") == "newer")
    },
  ]
}
