import PreferenceAdapters
import PreferenceOperators
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

  @Test func `item 26: the first member that holds a key wins, in literals and nested composites`() throws {
    let literal: CompositePreferences = [fixed, upper, lower]
    let nested: CompositePreferences = [[fixed] as CompositePreferences, [upper, lower] as CompositePreferences]
    for composite in [literal, nested] {
      #expect(try composite.value(forKey: "a") == "fixed")
      #expect(try composite.value(forKey: "b") == "lower")
      #expect(try composite.value(for: PreferenceKey<String?>("b")) == "lower")
    }
  }

  @Test func `item 27: the merged dictionary agrees with looking up each key`() throws {
    let composite: CompositePreferences = [
      fixed, [upper, vault.claiming(.names(["token"]))] as CompositePreferences, lower,
    ]
    let merged = try composite.dictionary(revealingSecrets: true)
    #expect(Set(merged.keys) == ["a", "b", "c", "token"])
    for (key, value) in merged { #expect(try composite.value(forKey: key) == value) }
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

  @Test(arguments: [CompositePreferences.WriteMode.firstStore, .allStores])
  func `item 29: a plain write changes the plain stores of its mode and no other`(
    mode: CompositePreferences.WriteMode
  ) throws {
    let composite = CompositePreferences([vault.unclaimed, fixed, upper, lower], writeMode: mode)
    try composite.set("new", for: PreferenceKey<String?>("d"))
    #expect(try vault.value(forKey: "d") == nil)
    #expect(try upper.value(forKey: "d") == "new")
    #expect(try lower.value(forKey: "d") == (mode == .allStores ? "new" : nil))
  }

  enum Change: CaseIterable {
    case set, merge, typed, exchange, remove, reset, removeAll

    func make(in composite: CompositePreferences) throws {
      switch self {
      case .set: try composite.set("new", forKey: "a")
      case .merge: try composite.set(["a": "new"])
      case .typed: try composite.set("new", for: PreferenceKey<String?>("a"))
      case .exchange: try composite.update(PreferenceKey<String?>("a")) { $0 = "new" }
      case .remove: try composite.removeValue(forKey: "a")
      case .reset: try composite.reset(PreferenceKey<String?>("a"))
      case .removeAll: try composite.removeAll()
      }
    }

    var result: PreferenceValue? {
      switch self {
      case .set, .merge, .typed, .exchange: "new"
      case .remove, .reset, .removeAll: nil
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `item 30: every way to change the first store changes that one only`(change: Change) throws {
    try change.make(in: CompositePreferences([fixed, upper, lower]))
    #expect(try upper.value(forKey: "a") == change.result)
    #expect(try lower.value(forKey: "a") == "lower")
  }

  @Test(arguments: Change.allCases)
  func `item 30: every way to change all stores changes all of them`(change: Change) throws {
    try change.make(in: CompositePreferences([fixed, upper, lower], writeMode: .allStores))
    #expect(try upper.value(forKey: "a") == change.result)
    #expect(try lower.value(forKey: "a") == change.result)
  }

  @Test func `item 31: a write that an earlier member hides is reported as shadowed`() throws {
    let composite = CompositePreferences([fixed, upper])
    #expect(try composite.set("new", for: PreferenceKey<String?>("a")) == .shadowed(by: "fixed"))
    #expect(try composite.update(PreferenceKey<String?>("a")) { $0 = "newer" } == .shadowed(by: "fixed"))
    #expect(try upper.value(forKey: "a") == "newer")
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

  static let secretWrites: [@Sendable (CompositePreferences) throws -> Void] = [
    { try $0.set("s", for: .password) },
    { try $0.set("s", forKey: "password") },
    { try $0.set(["password": "s", "plain": "p"]) },
    { try $0 += ["password": "s"] },
    { try $0 += [("password", "s")] },
    { try $0 ?= ["password": "s"] },
    { try $0 ?= ["password": { "s" }] },
    { try $0 += SealedStore(["password": "s"]) },
    { try $0.update(.password) { $0 = "s" } },
    { $0["password"] = "s" },
    { $0[.password] = "s" },
    { $0.members.password = "s" },
    { try $0.preference(for: .password).set("s") },
    { try ($0 <| "password") ?= "s" },
    { try $0.below("pass").set("s", forKey: "word") },
    { try $0.renaming(["p": "password"]).set("s", forKey: "p") },
    {
      let buffer = BufferedPreferences($0)
      try buffer.set("s", for: .password)
      try buffer.commit()
    },
    {
      let buffer = BufferedPreferences($0)
      try buffer.set("s", forKey: "password")
      try buffer.commit()
    },
  ]

  @Test(arguments: secretWrites.indices, [CompositePreferences.WriteMode.firstStore, .allStores])
  func `item 33: a secret key is written to sealed members only, through every path`(
    path: Int, mode: CompositePreferences.WriteMode
  ) throws {
    let composite = CompositePreferences([upper, lower, vault.claiming(.names(["password"]))], writeMode: mode)
    try Self.secretWrites[path](composite)
    #expect(try vault.value(forKey: "password") == "s")
    #expect(try upper.value(forKey: "password") == nil)
    #expect(try lower.value(forKey: "password") == nil)
  }

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

  @Test func `item 33: a secret key is not looked up in a plain member`() throws {
    try upper.set("plain", forKey: "password")
    #expect(try CompositePreferences([upper, vault.unclaimed]).value(for: .password) == nil)
    let composite = CompositePreferences([upper, vault.claiming(.names(["password"]))])
    #expect(try composite.value(forKey: "password") == nil)
    #expect(try composite.value(for: PreferenceKey("password", default: "default")) == "default")
  }

  @Test func `item 34: a merged dictionary redacts what is sealed unless secrets are requested`() throws {
    let composite = CompositePreferences([
      upper, [vault.claiming(.names(["token"]))] as CompositePreferences, lower,
    ])
    #expect(try composite.dictionary()["token"] == .redacted)
    #expect(try composite.dictionary()["a"] == "upper")
    #expect(try composite.below("tok").dictionary() == ["en": .redacted])
    #expect(try composite.readOnly.dictionary()["token"] == .redacted)
    #expect(try vault.dictionary() == ["token": .redacted])
    #expect(try composite.dictionary(revealingSecrets: true)["token"] == .string(sentinel))
  }

  @Test func `item 34: neither descriptions nor dumps show a sealed value`() throws {
    let composite = CompositePreferences([upper, vault.claiming(.names(["token"]))])
    let handle: Preference<String> = composite <| "token"
    let texts = [
      "\(composite)", dumped(composite), "\(handle)", dumped(handle), "\(try composite.explain("token"))",
      dumped(try composite.dictionary()), "\(composite.below("tok"))", dumped(composite.below("tok")),
    ]
    for text in texts { #expect(!text.contains(sentinel)) }
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
