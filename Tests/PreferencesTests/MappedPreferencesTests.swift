import Preferences
import Synchronization
import Testing

struct MappedPreferencesTests {
  let base: DictionaryPreferences = ["old": 1, "new": 2, "other": 3]

  @Test func `a renamed key reads and writes the other name, and the others their own`() throws {
    let view = try base.renaming(["port": "old"])
    #expect(try view.integer(forKey: "port") == 1)
    #expect(try view.integer(forKey: "other") == 3)
    try view.set(9, forKey: "port")
    #expect(try base.integer(forKey: "old") == 9)
    try view.removeValue(forKey: "port")
    #expect(base.keys() == ["new", "other"])
  }

  @Test func `a name that is mapped underneath does not exist here`() throws {
    let view = try base.renaming(["port": "old"])
    #expect(try view.value(forKey: "old") == nil)
    #expect(try Set(view.keys()) == ["new", "other", "port"])
    #expect(preferencesError { try view.set(1, forKey: "old") }?.code == .invalidKey)
    #expect(preferencesError { try view.set(["port": 5, "old": 1]) }?.code == .invalidKey)
    try view.removeValue(forKey: "old")
    #expect(try base.integer(forKey: "old") == 1)
  }

  @Test func `a name that is used for another hides what has it underneath`() throws {
    let view = try base.renaming(["new": "old"])
    #expect(try view.integer(forKey: "new") == 1)
    #expect(try view.keys() == ["new", "other"])
  }

  @Test func `two names can be exchanged`() throws {
    let view = try base.renaming(["new": "old", "old": "new"])
    #expect(try view.integer(forKey: "new") == 1)
    #expect(try view.integer(forKey: "old") == 2)
    #expect(try Set(view.keys()) == ["new", "old", "other"])
  }

  @Test func `two keys of one value are refused`() {
    #expect(preferencesError { _ = try base.renaming(["a": "old", "b": "old"]) }?.code == .invalidKey)
    #expect(preferencesError { _ = try base.renaming(["a": ""]) }?.code == .invalidKey)
  }

  @Test func `item 24: removing all removes what has a name here, and no other`() throws {
    try base.renaming(["new": "old"]).removeAll()
    #expect(base.keys() == ["new"])
    try base.renaming(["a": "b", "b": "a"]).removeAll()
    #expect(base.keys() == [])
  }

  @Test func `item 24: a merge writes the other names and keeps the rest`() throws {
    try base.renaming(["port": "old"]).set(["port": 5, "added": 6])
    #expect(try base.integer(forKey: "old") == 5)
    #expect(base.keys() == ["added", "new", "old", "other"])
  }

  @Test func `changes are reported with the mapped names`() throws {
    let received = Mutex<[Set<String>?]>([])
    let observation = try base.renaming(["new": "old"]).observe { change in received.withLock { $0.append(change.keys) }
    }
    try base.set(5, forKey: "old")
    try base.set(5, forKey: "new")
    observation.invalidate()
    #expect(received.withLock(\.self) == [["new"]])
  }

  @Test func `only a view of a store can be written`() throws {
    let view: any PreferencesReader = try FixedPreferences(content: ["a": 1]).renaming(["b": "a"])
    #expect(!(view is any PreferencesStore))
    #expect(try view.integer(forKey: "b") == 1)
  }
}

struct ReadOnlyPreferencesTests {
  @Test func `a read-only view shows what the store has and cannot be written`() throws {
    let base: DictionaryPreferences = ["a": 1]
    let view: any PreferencesReader = base.readOnly
    #expect(!(view is any PreferencesStore))
    try base.set(2, forKey: "a")
    #expect(try view.integer(forKey: "a") == 2)
    #expect(try view.keys() == ["a"])
    #expect(view.name == base.name)
    #expect(!dumped(view).contains("DictionaryPreferences"))
  }

  @Test func `a composite writes past a read-only layer and says that it is hidden`() throws {
    let base: DictionaryPreferences = ["a": 1]
    let store = DictionaryPreferences()
    let outcome = try CompositePreferences([base.readOnly, store]).set(5, forKey: "a")
    #expect(outcome == .shadowed(by: "dictionary"))
    #expect(try store.integer(forKey: "a") == 5)
    #expect(try base.integer(forKey: "a") == 1)
  }

  @Test func `a composite keeps secrets from plain keys behind a read-only view`() throws {
    let sealed = SealedPreferences()
    try sealed.set("s", forKey: "k")
    let view = CompositePreferences([sealed.unclaimed]).readOnly
    #expect(try view.value(for: PreferenceKey<String?>("k")) == nil)
    #expect(try view.secretValue(forKey: "k") == "s")
  }

  @Test func `a read-only view notifies of changes`() throws {
    let base = DictionaryPreferences()
    let received = Mutex(0)
    let observation = base.readOnly.observe { _ in received.withLock { $0 += 1 } }
    try base.set(1, forKey: "a")
    observation.invalidate()
    #expect(received.withLock(\.self) == 1)
  }
}
