import Preferences
import Testing

struct MigrationTests {
  private let store = DictionaryPreferences(["port": "8080", "token": .string(sentinel), "host": "a"])
  private let vault = Vault()

  private func migrator(_ steps: [PreferenceMigration.Step]...) throws -> PreferenceMigrator {
    try PreferenceMigrator(steps.enumerated().map { PreferenceMigration(to: $0.offset + 1, $0.element) })
  }

  private func count(_ calls: Recorded<Int>, _ id: Int) -> PreferenceMigration.Step {
    .convert("host") {
      calls.add(id)
      return $0
    }
  }

  @Test func `item 49: a key is renamed`() throws {
    try migrator([.rename("port", to: "server.port"), .rename("none", to: "nothing")]).run(on: store)
    #expect(store["server.port"] == "8080")
    #expect(store["port"] == nil)
    #expect(store["nothing"] == nil)
    #expect(store["preferences@version"] == 1)
  }

  @Test func `item 49: a representation is changed, by name and by declared keys`() throws {
    let (text, number) = (PreferenceKey<String?>("port"), PreferenceKey("port", default: 0))
    try migrator(
      [.convert("host") { _ in ["b", "c"] }, .convert(text, to: number) { Int($0 ?? "") ?? 0 }],
      [.convert(number, to: PreferenceKey("server.port", default: "")) { "\($0 + 1)" }],
      [.convert("token") { _ in nil }]
    ).run(on: store)
    #expect(try store.dictionary() == ["host": ["b", "c"], "server.port": "8081", "preferences@version": 3])
  }

  @Test func `item 49: steps of one migration see what those before them did`() throws {
    try migrator([.rename("port", to: "p"), .rename("p", to: "q"), .remove("host"), .rename("token", to: "port")])
      .run(on: store)
    #expect(try store.dictionary() == ["q": "8080", "port": .string(sentinel), "preferences@version": 1])
  }

  @Test func `item 49: a plain value moves into a sealed store and the plain copy is removed`() throws {
    try migrator([.seal("token", as: "github", into: vault)]).run(on: store)
    #expect(try vault.value(forKey: "github") == .string(sentinel))
    #expect(store["token"] == nil)
    #expect(vault.log.all == ["set github"])
  }

  @Test func `item 49: a sealed value that does not read back leaves the plain one`() {
    let vault = Vault(forgets: true)
    #expect(preferencesError { try migrator([.seal("token", into: vault)]).run(on: store) }?.code == .unavailable)
    #expect(store["token"] == .string(sentinel))
    #expect(store["preferences@version"] == nil)
  }

  @Test func `item 49: NaN moves like any other value`() throws {
    store["x"] = .double(.nan)
    try migrator([.rename("x", to: "y"), .seal("y", into: vault)]).run(on: store)
    #expect(store["y"] == nil)
    #expect(try vault.value(forKey: "y")?.as(Double.self)?.isNaN == true)
  }

  @Test func `item 49: a sealed store that takes nothing says so itself, with nothing to undo`() throws {
    let before = try store.dictionary()
    #expect(throws: FailingPreferences.Locked.self) {
      try migrator([.rename("port", to: "p"), .seal("token", into: ReadOnlyVault())]).run(on: store)
    }
    #expect(try store.dictionary() == before)
  }

  @Test func `item 49: a store that fails to write leaves both stores as they were`() throws {
    let failing = Failing(store, failures: ["server.port"])
    let before = try store.dictionary()
    let migrator = try migrator([.seal("token", into: vault), .rename("port", to: "server.port"), .remove("host")])
    #expect(throws: FailingPreferences.Locked.self) { try migrator.run(on: failing) }
    #expect(try store.dictionary() == before)
    #expect(try vault.keys() == [])
    #expect(try migrator.run(on: store) == [1])
  }

  @Test func `item 49: migrations before a failing one are done`() throws {
    let migrator = try migrator(
      [.rename("port", to: "p")], [.rename("p", to: "q"), .convert("host") { _ in throw CancellationError() }])
    #expect(throws: CancellationError.self) { try migrator.run(on: store) }
    #expect(store["p"] == "8080")
    #expect(try migrator.version(of: store) == 1)
  }

  @Test func `item 49: a run that ended while it removed is finished by the next, and not begun anew`() throws {
    let calls = Recorded<Int>()
    let failing = Failing(store, failures: ["removing port"])
    let migrator = try migrator([.rename("port", to: "p"), .seal("token", into: vault), count(calls, 1)])
    #expect(throws: FailingPreferences.Locked.self) { try migrator.run(on: failing) }
    #expect(store["p"] == "8080")
    #expect(store["port"] == "8080")
    #expect(try migrator.version(of: store) == 1)
    try store.set("changed", forKey: "p")
    #expect(try migrator.run(on: store) == [])
    #expect(try store.dictionary() == ["p": "changed", "host": "a", "preferences@version": 1])
    #expect(calls.all == [1])
  }

  @Test func `item 49: a run that ended after sealing continues with the same value`() throws {
    _ = try vault.set(.string(sentinel), forKey: "token")
    #expect(try migrator([.seal("token", into: vault)]).run(on: store) == [1])
    #expect(store["token"] == nil)
  }

  @Test func `a different value at the destination is a conflict, and both stay`() throws {
    _ = try vault.set("newer", forKey: "token")
    let sealing = preferencesError { try migrator([.seal("token", into: vault)]).run(on: store) }
    #expect(sealing?.code == .conflict)
    #expect(sealing?.description.contains(sentinel) == false)
    let renaming = preferencesError { try migrator([.rename("port", to: "host")]).run(on: store) }
    #expect(renaming?.code == .conflict)
    #expect(try vault.value(forKey: "token") == "newer")
    #expect(store["port"] == "8080")
  }

  @Test func `preferences of a later version are refused`() throws {
    store["preferences@version"] = 7
    #expect(preferencesError { try migrator([]).run(on: store) }?.code == .conflict)
  }

  @Test(arguments: [[0], [-1], [1, 1]])
  func `versions are 1 or more, each once`(versions: [Int]) {
    let migrations = versions.map { PreferenceMigration(to: $0, []) }
    #expect(preferencesError { _ = try PreferenceMigrator(migrations) }?.code == .outOfRange)
  }

  @Test(
    arguments: ["text", ["version": 1], ["version": -1, "removing": [], "removingSecrets": []], 0] as [PreferenceValue])
  func `a stored version that is not valid is an error`(stored: PreferenceValue) {
    store["preferences@version"] = stored
    #expect(preferencesError { try migrator([.remove("host")]).run(on: store) }?.code == .malformed)
    #expect(store["host"] == "a")
  }

  @Test func `a composite is migrated in its plain layers, and no secret leaves the vault`() throws {
    _ = try vault.set("s", forKey: "password")
    let composite = CompositePreferences([vault.unclaimed, store])
    try migrator([.rename("password", to: "p"), .rename("port", to: "server.port"), .seal("token", into: vault)])
      .run(on: composite)
    #expect(try store.dictionary() == ["server.port": "8080", "host": "a", "preferences@version": 1])
    #expect(try vault.dictionary(revealingSecrets: true) == ["password": "s", "token": .string(sentinel)])
  }

  // MARK: Secret keys

  private let plainToken = PreferenceKey<String?>("token")
  private let secretToken = secretKey("token")

  @Test func `a plain store is not given the value of a secret key, and keeps what it has`() throws {
    let before = try store.dictionary()
    let migrator = try migrator([.convert(plainToken, to: secretToken) { $0 }])
    #expect(preferencesError { try migrator.run(on: store) }?.code == .noStore)
    #expect(try store.dictionary() == before)
  }

  @Test func `a value that becomes a secret moves into the sealed layer, and the plain copy is removed`() throws {
    let composite = CompositePreferences([store, vault.unclaimed])
    try migrator([.convert(plainToken, to: secretToken) { $0 }]).run(on: composite)
    #expect(try vault.secretValue(forKey: "token") == .string(sentinel))
    #expect(try store.dictionary() == ["port": "8080", "host": "a", "preferences@version": 1])
  }

  @Test func `a run that ended after it sealed a value of a secret key continues with the same value`() throws {
    try vault.setSecret(.string(sentinel), forKey: "token")
    let composite = CompositePreferences([store, vault.unclaimed])
    #expect(try migrator([.convert(plainToken, to: secretToken) { $0 }]).run(on: composite) == [1])
    #expect(store["token"] == nil)
  }

  @Test func `steps see the secrets of those before them, and a sealed store is migrated by itself`() throws {
    try vault.set(.string(sentinel), forKey: "old")
    let (old, new) = (secretKey("old"), secretKey("new"))
    try migrator([.convert(old, to: secretToken) { $0 }, .convert(secretToken, to: new) { $0.map { $0 + "!" } }])
      .run(on: vault)
    #expect(
      try vault.dictionary(revealingSecrets: true) == ["new": .string(sentinel + "!"), "preferences@version": 1])
  }

  @Test func `a claimed value that is renamed stays a secret`() throws {
    try vault.setSecret(.string(sentinel), forKey: "password")
    let composite = CompositePreferences([vault.claiming(.names(["password"])), DictionaryPreferences()])
    try migrator([.rename("password", to: "p")]).run(on: composite)
    #expect(try vault.secretValue(forKey: "p") == .string(sentinel))
    #expect(try vault.secretValue(forKey: "password") == nil)
  }

  // MARK: Other processes

  private static let timeout = PreferenceMigration.Step.convert("timeout") { value in
    value.as(Int.self).map { PreferenceValue($0 * 1_000) }
  }

  @Test func `a migration that another process has done meanwhile is not done again`() throws {
    try store.set(5, forKey: "timeout")
    let migrator = try migrator([Self.timeout])
    let racing = Racing(store) { try migrator.run(on: $0) }
    #expect(try migrator.run(on: racing) == [])
    #expect(store["timeout"] == 5_000)
  }

  @Test func `what another process has sealed meanwhile stays sealed`() throws {
    let migrator = try migrator([.seal("token", into: vault)])
    let racing = Racing(store) { try migrator.run(on: $0) }
    #expect(try migrator.run(on: racing) == [])
    #expect(try vault.value(forKey: "token") == .string(sentinel))
  }

  @Test func `a value that is written between the read and the write of a migration is the one that is migrated`()
    throws
  {
    try store.set(5, forKey: "timeout")
    let racing = Racing(store) { try $0.set(6, forKey: "timeout") }
    #expect(try migrator([Self.timeout]).run(on: racing) == [1])
    #expect(store["timeout"] == 6_000)
  }

  @Test func `removals that another process has finished are not made again`() throws {
    let first: [PreferenceMigration.Step] = [.rename("port", to: "server.port")]
    let both = try migrator(first, [.rename("host", to: "port")])
    let racing = Racing(store, at: 2) { try both.run(on: $0) }
    #expect(preferencesError { try migrator(first).run(on: racing) }?.code == .conflict)
    #expect(
      try store.dictionary() == [
        "server.port": "8080", "port": "a", "token": .string(sentinel), "preferences@version": 2,
      ])
  }

  @Test func `a store that refuses every condition is an error, before the removals and in them`() throws {
    let migrator = try migrator([.rename("port", to: "server.port")])
    #expect(preferencesError { try migrator.run(on: Refusing(base: store)) }?.code == .unavailable)
    let failing = Failing(store, failures: ["removing port"])
    #expect(throws: FailingPreferences.Locked.self) { try migrator.run(on: failing) }
    #expect(preferencesError { try migrator.run(on: Refusing(base: store)) }?.code == .unavailable)
  }

  @Test(arguments: [[PreferenceMigration.Step.rename("port", to: "server.port")], [.convert("host") { _ in "b" }]])
  func `a store that loses what is written is an error`(steps: [PreferenceMigration.Step]) throws {
    let migrator = try migrator(steps, [.remove("token")])
    #expect(preferencesError { try migrator.run(on: Losing(base: store)) }?.code == .unavailable)
    #expect(try store.dictionary() == ["port": "8080", "token": .string(sentinel), "host": "a"])
  }

  @Test func `a migration that is stored by a store that then fails is finished by the next run`() throws {
    let migrator = try migrator([.seal("token", into: vault), .rename("port", to: "server.port")])
    let late = FailingLate(base: store)
    #expect(throws: FailingPreferences.Locked.self) { try migrator.run(on: late) }
    #expect(try vault.value(forKey: "token") == .string(sentinel))
    #expect(store["token"] == .string(sentinel))
    #expect(try migrator.run(on: store) == [])
    #expect(try store.dictionary() == ["server.port": "8080", "host": "a", "preferences@version": 1])
    #expect(try vault.value(forKey: "token") == .string(sentinel))
  }

  // MARK: Several layers

  @Test func `a secret in a layer of a composite is not changed in place, since two runs would change it twice`() throws
  {
    try vault.set("p", forKey: "password")
    let composite = CompositePreferences([vault.claiming(.names(["password"])), store])
    let steps: [PreferenceMigration.Step] = [
      .convert("password") { $0.as(String.self).map { .string($0 + "!") } }, .rename("port", to: "server.port"),
    ]
    let before = try store.dictionary()
    #expect(preferencesError { try migrator(steps).run(on: composite) }?.code == .conflict)
    #expect(try vault.value(forKey: "password") == "p")
    #expect(try store.dictionary() == before)
    try migrator([steps[0]]).run(on: vault)
    #expect(try vault.value(forKey: "password") == "p!")
  }

  @Test func `a name that a layer claims is not sealed, since only the sealed value is found under it`() throws {
    try vault.set("only copy", forKey: "password")
    let composite = CompositePreferences([vault.claiming(.names(["password", "token"])), store])
    for name in ["password", "token"] {
      #expect(preferencesError { try migrator([.seal(name, into: vault)]).run(on: composite) }?.code == .conflict)
    }
    #expect(try vault.dictionary(revealingSecrets: true) == ["password": "only copy"])
    #expect(store["token"] == .string(sentinel))
    #expect(store["preferences@version"] == nil)
  }

  @Test func `a value that is sealed into the store that has it stays there`() throws {
    try vault.set("only copy", forKey: "password")
    #expect(try migrator([.seal("password", into: vault)]).run(on: vault) == [1])
    #expect(try vault.value(forKey: "password") == "only copy")
    try migrator([], [.seal("password", as: "p", into: vault)]).run(on: vault)
    #expect(try vault.dictionary(revealingSecrets: true) == ["p": "only copy", "preferences@version": 2])
  }

  @Test func `a value that is sealed into the store that has it under a different name is put back`() throws {
    try vault.set("only copy", forKey: "api")
    let composite = CompositePreferences([vault.mounted(at: "secrets."), store])
    let migrator = try migrator([.seal("secrets.api", as: "api", into: vault)])
    #expect(preferencesError { try migrator.run(on: composite) }?.code == .conflict)
    #expect(try vault.dictionary(revealingSecrets: true) == ["api": "only copy"])
  }

  @Test func `a value that a layer below still has is a conflict, at each run`() throws {
    let (own, below) = (DictionaryPreferences(), DictionaryPreferences(["token": .string(sentinel)]))
    let migrator = try migrator([.seal("token", into: vault)])
    for _ in 1...2 {
      let error = preferencesError { try migrator.run(on: CompositePreferences([own, below])) }
      #expect(error?.code == .conflict)
      #expect(error?.message.contains("\"token\"") == true)
    }
    try below.removeValue(forKey: "token")
    #expect(try migrator.run(on: CompositePreferences([own, below])) == [])
    #expect(own["preferences@version"] == 1)
  }
}

private func secretKey(_ name: String) -> PreferenceKey<String?> {
  PreferenceKey(
    name, kind: .string, secrecy: .secret, makeDefault: { nil },
    decode: { value throws(PreferencesError) in try String(preferenceValue: value) },
    encode: { value throws(PreferencesError) in value.map(PreferenceValue.string) })
}

/// A sealed store in memory that says what is written, and may forget it.
private final class Vault: PreferencesStore {
  let name = "vault"
  let custody = Custody.sealed
  let log = Recorded<String>()
  private let forgets: Bool
  private let values = DictionaryPreferences()

  init(forgets: Bool = false) { self.forgets = forgets }

  func value(for query: PreferenceQuery) -> PreferenceValue? { values.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { values.names(of: secrecy) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    for edit in edits.edits where edit.content != nil { log.add("set \(edit.name)") }
    return forgets ? .visible : try values.apply(edits)
  }
}

/// A sealed store that can be read and never written.
private struct ReadOnlyVault: PreferencesStore {
  let name = "vault"
  let custody = Custody.sealed
  func value(for query: PreferenceQuery) -> PreferenceValue? { nil }
  func names(of secrecy: Secrecy) -> [PreferenceName] { [] }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { throw FailingPreferences.Locked() }
}

/// A store that fails at some writes: at those of a key, or of removing one.
private struct Failing: PreferencesStore {
  let base: DictionaryPreferences
  let failures: Set<String>

  init(_ base: DictionaryPreferences, failures: Set<String>) {
    self.base = base
    self.failures = failures
  }

  var name: String { base.name }
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    for edit in edits.edits {
      let failure = edit.content == nil ? "removing \(edit.name)" : edit.name.text
      if failures.contains(failure) { throw FailingPreferences.Locked() }
    }
    return try base.apply(edits)
  }
}
