import PreferencesOperators
import Preferences
import Synchronization
import Testing

/// A sealed store in memory, which can be locked.
private final class SealedStore: PreferencesStore {
  let name = "vault"
  let custody = Custody.sealed
  private let isLocked = Mutex(false)
  private let values: DictionaryPreferences

  init(_ values: [String: PreferenceValue] = [:]) { self.values = DictionaryPreferences(values) }

  func lock() { isLocked.withLock { $0 = true } }

  private var unlocked: DictionaryPreferences {
    get throws {
      guard !isLocked.withLock(\.self) else { throw FailingPreferences.Locked() }
      return values
    }
  }

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { try unlocked.value(for: query) }
  func names(of secrecy: Secrecy) throws -> [PreferenceName] { try unlocked.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try unlocked.apply(edits) }
}

extension PreferenceKey<String?> {
  fileprivate static var password: Self { .secretString("password") }

  fileprivate static func secretString(_ name: String) -> Self {
    Self(
      name, kind: .string, secrecy: .secret, makeDefault: { nil },
      decode: { value throws(PreferencesError) in try String(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value.map(PreferenceValue.string) })
  }
}

struct CompositeSecrecyTests {
  private let vault = SealedStore(["token": .string(sentinel)])
  private let upper = DictionaryPreferences(["a": "upper"], name: "upper")
  private let lower = DictionaryPreferences(["a": "lower", "b": "lower"], name: "lower")
  private let fixed = FixedPreferences(name: "fixed", content: ["a": "fixed", "c": 3])

  // MARK: 26 to 32

  @Test func `item 27: the merged dictionary agrees with looking up each key`() throws {
    let composite: CompositePreferences = [
      fixed, [upper, vault.claiming(.names(["token"]))] as CompositePreferences, lower,
    ]
    let merged = try composite.dictionary(revealingSecrets: true)
    #expect(Set(merged.keys) == ["a", "b", "c", "token"])
    for (key, value) in merged { #expect(try composite.value(forKey: key) == value) }
  }

  private struct Database: Codable, Equatable, Sendable {
    var host: String
    var password: String?
  }

  @Test(arguments: [PreferenceClaim.prefix("db.p"), .names(["db.password"])])
  func `a dictionary of a plain layer has no entry that the vault claims`(_ claim: PreferenceClaim) throws {
    let inner: PreferenceValue = ["host": "h", "password": "leak"]
    let plain: DictionaryPreferences = ["db": inner, "all": ["db": inner]]
    let composite: CompositePreferences = [vault.claiming(claim), plain]
    vault.lock()

    let key = PreferenceKey<Database?>.codable("db")
    #expect(try composite.value(for: key) == Database(host: "h"))
    #expect(try composite.below("d").value(forKey: "b") == ["host": "h"])
    #expect(try composite.value(forKey: "all") == ["db": inner])
    let json = #"{"host": "h", "password": "leak"}"#
    let texts: [any PreferencesReader] = [
      ["db": .string(json)] as DictionaryPreferences, EnvironmentPreferences(environment: ["DB": json]),
    ]
    for text in texts {
      #expect(try CompositePreferences([vault.claiming(claim), text]).value(for: key) == Database(host: "h"))
    }
    #expect(try CompositePreferences([plain]).value(for: key)?.password == "leak")
  }

  @Test func `a dictionary with an entry that the vault claims is written to no plain layer`() async throws {
    let plain: DictionaryPreferences = ["db": ["host": "h"]]
    for mode in [CompositePreferences.WriteMode.firstStore, .allStores] {
      let composite = CompositePreferences([vault.claiming(.prefix("db.p")), plain], writeMode: mode)
      let key = PreferenceKey<Database?>.codable("db")
      let secret = Database(host: "x", password: sentinel)
      let error = preferencesError { try composite.set(secret, for: key) }
      #expect(error?.code == .notStorable && error?.message.contains("db.password") == true)
      #expect(error?.message.contains(sentinel) == false)
      await #expect(throws: PreferencesError.self) { try await composite.set(secret, for: key) }
      await #expect(throws: PreferencesError.self) { try await composite.set(["db": ["a": 1, "p": "x"], "c": 1]) }
      #expect(try plain.dictionary() == ["db": ["host": "h"]])
      try await composite.set(Database(host: "y"), for: key)
      #expect(try plain.value(forKey: "db") == ["host": "y"])
      try await composite.set(["host": "h"] as PreferenceValue, forKey: "db")
    }
  }

  @Test func `the text of a JSON object with an entry that the vault claims is written to no plain layer`() throws {
    let plain = DictionaryPreferences()
    let composite: CompositePreferences = [vault.claiming(.names(["db.password", "db.in.token"])), plain]
    let texts = [#"{"password": "\#(sentinel)"}"#, #" {"in": {"token": 1}}"#, #"{"in": "{\"token\": 1}"}"#]
    for text in texts {
      let error = preferencesError { try composite.set(.string(text), forKey: "db") }
      #expect(error?.code == .notStorable)
      #expect(error?.message.contains(sentinel) == false)
      #expect(plain.keys() == [])
      try plain.set(.string(text), forKey: "db")
      #expect(try composite.value(forKey: "db")?.kind == .dictionary)
      #expect(preferencesError { _ = try composite.string(forKey: "db") }?.code == .typeMismatch)
      try plain.removeAll()
    }
    for text in [#"{"host": "h"}"#, "{password", #"["password"]"#] {
      try composite.set(.string(text), forKey: "db")
      #expect(try composite.string(forKey: "db") == text)
    }
  }

  @Test func `a dictionary that is read as a guarded value has no entry that the vault claims either`() throws {
    let plain: DictionaryPreferences = ["db": ["host": "h", "password": "leak"]]
    let composite: CompositePreferences = [vault.claiming(.names(["db.password"])), plain]
    #expect(try composite.guardedLookUp(PreferenceQuery("db"))?.value() == ["host": "h"])
  }

  @Test func `removing all keeps what a nested composite has, except the values it is the target of`() throws {
    for isPlain in [true, false] {
      let (plain, sealed) = (DictionaryPreferences(["a": 1]), SealedStore(["s": 1]))
      let (over, vault) = (DictionaryPreferences(["a": 2]), SealedStore(["s": 2]))
      let inner = CompositePreferences([sealed.unclaimed, plain])
      let upper: any PreferencesStore = isPlain ? over : vault.unclaimed
      try CompositePreferences([upper, inner]).removeAll()
      #expect(plain.keys() == (isPlain ? ["a"] : []))
      #expect(try sealed.keys() == (isPlain ? [] : ["s"]))
      #expect(over.keys() == (isPlain ? [] : ["a"]))
      #expect(try vault.keys() == (isPlain ? ["s"] : []))
    }
  }

  @Test func `removing all of a composite empties a nested one that takes all its values`() throws {
    let (plain, sealed) = (DictionaryPreferences(["a": 1]), SealedStore(["s": 1]))
    let inner = CompositePreferences([sealed.unclaimed, plain])
    try CompositePreferences([FixedPreferences(content: ["a": 1]), inner]).removeAll()
    #expect(plain.keys() == [])
    #expect(try sealed.keys() == [])
  }

  @Test func `item 28: typed getters return the value of the winning member`() throws {
    let environment = EnvironmentPreferences(environment: ["PORT": "443"])
    let composite: CompositePreferences = [vault.unclaimed, environment, ["port": 80] as DictionaryPreferences]
    #expect(try composite.integer(forKey: "port") == 443)
    #expect(try composite.value(for: .secretString("token")) == sentinel)
  }

  @Test func `item 28: a string in a sealed member is what a getter by name returns, if the member claims the name`()
    throws
  {
    #expect(try CompositePreferences([vault.claiming(.names(["token"])), lower]).string(forKey: "token") == sentinel)
    #expect(try CompositePreferences([vault.unclaimed, lower]).string(forKey: "token") == nil)
  }

  @Test func `item 31: a sealed layer does not shadow a plain write`() throws {
    let composite = CompositePreferences([vault.unclaimed, upper])
    #expect(try composite.set("plain", for: PreferenceKey<String?>("token")) == .visible)
  }

  @Test func `item 31: without a member that takes it a write throws`() {
    let plain = CompositePreferences([vault.unclaimed, fixed])
    #expect(preferencesError { _ = try plain.set("x", for: PreferenceKey<String?>("d")) }?.code == .noStore)
    #expect(preferencesError { try plain.update(PreferenceKey<String?>("d")) { $0 = "x" } }?.code == .noStore)
    #expect(preferencesError { _ = try CompositePreferences([fixed]).set(["d": 1]) }?.code == .noStore)
  }

  @Test func `item 32: a composite lists its members and its stores, and returns the owner of a key`() throws {
    let composite = CompositePreferences([fixed, upper, [fixed] as CompositePreferences, lower])
    #expect(composite.layers.map(\.name) == ["fixed", "upper", "composite", "lower"])
    #expect(composite.stores.map(\.name) == ["upper", "lower"])
    #expect(composite.readOnlyLayers.map(\.name) == ["fixed", "composite"])
    #expect(try composite.layer(holding: "a")?.name == "fixed")
    #expect(try composite.store(holding: "a")?.name == "upper")
    #expect(try composite.store(holding: "b")?.name == "lower")
    #expect(try composite.layer(holding: "none") == nil)
    #expect(try composite.store(holding: "c") == nil)
  }

  // MARK: 33 to 35

  @Test func `item 33: a secret key is refused where no member is sealed`() {
    let composite = CompositePreferences([upper, lower, vault.readOnly.claiming(.names(["listed"]))])
    for write in [
      { _ = try composite.set("s", for: .password) }, { try composite.update(.password) { $0 = "s" } },
      { _ = try upper.set("s", for: .password) }, { _ = try composite.set("s", forKey: "listed") },
      { try composite.set(["listed": "s"]) }, { try composite += vault }, { try upper += vault },
    ] as [() throws -> Void] {
      #expect(preferencesError(write)?.code == .noStore)
    }
    #expect(upper.keys() == ["a"])
  }

  @Test func `item 35: with a locked member plain keys resolve and secret keys are unavailable`() throws {
    let composite = CompositePreferences([vault.claiming(.names(["listed"])), upper, lower])
    try lower.set("plain", forKey: "password")
    try lower.set("plain", forKey: "listed")
    vault.lock()
    #expect(try composite.value(for: PreferenceKey<String?>("a")) == "upper")
    #expect(try composite.set("new", for: PreferenceKey<String?>("a")) == .visible)
    #expect(composite.members.a == "new")
    for read in [
      { _ = try composite.value(for: .password) }, { _ = try composite.value(forKey: "listed") },
      { _ = try composite.value(for: PreferenceKey<String?>("listed")) }, { _ = try composite.dictionary() },
      { _ = try composite.set("s", for: .password) },
    ] as [() throws -> Void] {
      let error = preferencesError(read)
      #expect(error?.code == .unavailable)
      #expect(error?.message == "layer \"vault\" failed")
      #expect(error?.cause is FailingPreferences.Locked)
    }
  }

  @Test func `increments through a composite and its first store lose none`() async throws {
    let composite = CompositePreferences([fixed, upper, ["n": 10] as DictionaryPreferences])
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for _ in 0..<50 {
            do {
              if task.isMultiple(of: 2) {
                try composite.preference("n", as: Int.self) += 1
              } else {
                try composite.update(PreferenceKey("n", default: 0)) { $0 += 1 }
              }
            } catch { Issue.record(error) }
          }
        }
      }
    }
    #expect(try upper.integer(forKey: "n") == 410)
  }
}
