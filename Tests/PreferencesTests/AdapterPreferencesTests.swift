import Foundation
import Preferences
import Synchronization
import Testing

/// Settings in an object, as a program might have them.
private final class Settings: Sendable {
  private let state = Mutex((port: 80, proxy: String?.none))
  let version = "1.0"

  var port: Int {
    get { state.withLock(\.port) }
    set { state.withLock { $0.port = newValue } }
  }
  var proxy: String? {
    get { state.withLock(\.proxy) }
    set { state.withLock { $0.proxy = newValue } }
  }
}

struct KeyPathPreferencesTests {
  private let settings = Settings()
  private var store: KeyPathPreferences<Settings> {
    KeyPathPreferences(
      settings,
      ["server.port": .writable(\.port), "proxy": .writable(\.proxy), "version": .readOnly(\.version)])
  }

  @Test func `item 21: properties are read and written by name`() throws {
    #expect(try store.integer(forKey: "server.port") == 80)
    #expect(try store.value(forKey: "proxy") == nil)
    #expect(try store.keys() == ["server.port", "version"])
    try store.set(8080, forKey: "server.port")
    try store.set("h", forKey: "proxy")
    #expect(settings.port == 8080)
    #expect(settings.proxy == "h")
    try store.removeValue(forKey: "proxy")
    #expect(settings.proxy == nil)
  }

  @Test func `item 21: an unknown name is nil on read and an error on write`() throws {
    #expect(try store.value(forKey: "none") == nil)
    #expect(preferencesError { try store.set(1, forKey: "none") }?.code == .unknownKey)
    try store.removeValue(forKey: "none")
  }

  @Test func `item 21: a read-only property is an error on write`() throws {
    #expect(try store.string(forKey: "version") == "1.0")
    #expect(preferencesError { try store.set("2", forKey: "version") }?.code == .fixed)
    #expect(preferencesError { try store.removeValue(forKey: "version") }?.code == .fixed)
  }

  @Test func `a property that cannot be nil is not removed`() throws {
    try store.set("h", forKey: "proxy")
    #expect(preferencesError { try store.removeValue(forKey: "server.port") }?.code == .fixed)
    #expect(preferencesError { try store.removeAll() }?.code == .fixed)
    #expect(settings.proxy == "h")
  }

  @Test func `item 24: removing all sets every property to nil`() throws {
    let store = KeyPathPreferences(settings, ["proxy": .writable(\.proxy)])
    try store.set("h", forKey: "proxy")
    try store.removeAll()
    #expect(settings.proxy == nil)
  }

  @Test func `a value of another type is refused, and the old one stays`() {
    let error = preferencesError { try store.set(.string(sentinel), forKey: "server.port") }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message.contains("server.port") == true)
    #expect(error?.description.contains(sentinel) == false)
    #expect(settings.port == 80)
  }

  @Test func `changes notify observers`() throws {
    let store = store
    let received = Mutex<[Set<String>?]>([])
    let observation = store.observe { change in received.withLock { $0.append(change.keys) } }
    try store.set(1, forKey: "server.port")
    observation.invalidate()
    #expect(received.withLock(\.self) == [["server.port"]])
  }
}

private class Base: @unchecked Sendable {
  let inherited = 1
  let both = "base"
}

private final class Derived: Base, @unchecked Sendable {
  let own: String? = "o"
  let none: Int? = nil
  let list = [1, 2]
  let other: Substring = "x"
  lazy var late = 5

  var both2: String { "computed" }
}

struct ReflectingPreferencesTests {
  @Test func `item 22: inherited properties are included`() throws {
    let layer = ReflectingPreferences(Derived())
    #expect(try layer.integer(forKey: "inherited") == 1)
    #expect(try layer.string(forKey: "own") == "o")
    #expect(try layer.value(forKey: "list") == [1, 2])
  }

  @Test func `item 22: a nil property is absent`() throws {
    let layer = ReflectingPreferences(Derived())
    #expect(try layer.contains("none") == false)
    #expect(try !layer.keys().contains("none"))
  }

  @Test func `item 22: lazy storage is hidden`() throws {
    let object = Derived()
    #expect(object.late == 5)
    let layer = ReflectingPreferences(object)
    #expect(try !layer.keys().contains { $0.contains("late") })
    #expect(try layer.value(forKey: "$__lazy_storage_$_late") == nil)
  }

  @Test func `each key has a value, and a plain struct will do`() throws {
    struct Point {
      var x = 1.5
      var label: PreferenceValue = ["a": 1]
      var nested: Int?? = .some(.some(3))
      var closure = { 1 }
    }
    let layer = ReflectingPreferences(Point().x)
    #expect(try layer.keys() == [])
    struct Plain: Sendable {
      var x = 1.5
      var label: PreferenceValue = ["a": 1]
      var nested: Int?? = .some(.some(3))
    }
    let plain = ReflectingPreferences(Plain())
    #expect(try plain.keys() == ["x", "label", "nested"])
    #expect(try plain.value(forKey: "nested") == 3)
    #expect(try plain.value(forKey: "label") == ["a": 1])
  }

  @Test func `neither description nor dump shows a value`() {
    struct Plain: Sendable { var text = sentinel }
    let layer = ReflectingPreferences(Plain())
    #expect(!dumped(layer).contains(sentinel))
    #expect(!"\(layer)".contains(sentinel))
  }
}

struct KeysPreferencesTests {
  @Test func `item 2: a reader of keys and values has every getter`() throws {
    let values: [String: PreferenceValue] = ["a": 1, "b": "x"]
    let layer = KeysPreferences(keys: { ["b", "a", "b", ""] }, value: { values[$0] })
    #expect(try layer.keys() == ["b", "a"])
    #expect(try layer.integer(forKey: "a") == 1)
    #expect(try layer.contains("none") == false)
    #expect(preferencesError { _ = try layer.value(forKey: "") }?.code == .invalidKey)
    #expect(try DictionaryPreferences(copying: layer).map(\.key) == ["a", "b"])
  }
}

struct RecordPreferencesTests {
  @Test func `item 20: a record is read and written through its closures`() throws {
    let row: DictionaryPreferences = ["a": 1]
    let store = RecordPreferences(
      keys: { row.keys() }, get: { try row.value(forKey: $0) },
      set: { value, key in
        if let value { try row.set(value, forKey: key) } else { try row.removeValue(forKey: key) }
      })
    try store.set(["a": 2, "b": true])
    #expect(try store.keys() == ["a", "b"])
    #expect(try store.integer(forKey: "a") == 2)
    try store.removeValue(forKey: "a")
    #expect(row.keys() == ["b"])
    try store.removeAll()
    #expect(row.keys() == [])
  }

  @Test func `what a closure throws reaches the caller`() {
    let store = RecordPreferences(keys: { [] }, get: { _ in throw FailingPreferences.Locked() }) { _, _ in
      throw FailingPreferences.Locked()
    }
    #expect(throws: FailingPreferences.Locked.self) { try store.set(1, forKey: "a") }
    #expect(throws: FailingPreferences.Locked.self) { try store.value(forKey: "a") }
  }

  @Test func `a sealed record returns secret keys and no plain ones in a composite`() throws {
    let store = RecordPreferences(isSealed: true, keys: { ["a"] }, get: { _ in 1 }, set: { _, _ in })
    #expect(try CompositePreferences([store.unclaimed]).value(for: PreferenceKey<Int?>("a")) == nil)
    #expect(try store.secretValue(forKey: "a") == 1)
  }
}

struct CollectionPreferencesTests {
  @Test func `item 20: of repeated keys the first counts, in lookups as in the list`() throws {
    let rows: [(String, Int?)] = [("b", 1), ("a", 2), ("b", 3), ("", 4), ("c", nil)]
    let layer = CollectionPreferences(rows, key: { $0.0 }, value: { $0.1?.preferenceValue })
    #expect(try layer.integer(forKey: "b") == 1)
    #expect(try layer.keys() == ["b", "a"])
    #expect(try layer.value(forKey: "c") == nil)
    #expect(try DictionaryPreferences(copying: layer).integer(forKey: "b") == 1)
  }
}

struct ReentrantWriteTests {
  /// A store whose closure writes a second key during each write of the first, and can fail from then on.
  private final class Rows: Sendable {
    let state = Mutex((values: [String: PreferenceValue](), fails: false))
    var store: RecordPreferences {
      RecordPreferences(
        keys: { [self] in state.withLock { Array($0.values.keys) } },
        get: { [self] key in state.withLock { $0.values[key] } },
        set: { [self] value, key in
          try state.withLock { state in
            if state.fails { throw PreferencesError(.unavailable, "down") }
            state.values[key] = value
            if key == "last" { state.fails = true }
          }
        })
    }
  }

  @Test func `observers are told after the outermost write, with no lock held`() throws {
    let inner = Mutex<RecordPreferences?>(nil)
    let values = Mutex<[String: PreferenceValue]>([:])
    let store = RecordPreferences(
      keys: { [] }, get: { key in values.withLock { $0[key] } },
      set: { value, key in
        values.withLock { $0[key] = value }
        if key == "a" { try inner.withLock(\.self)?.set(2, forKey: "b") }
      })
    inner.withLock { $0 = store }
    let told = Mutex<[String]>([])
    let observation = store.observe { change in
      // A write on another thread waits for the lock, which must be free.
      let thread = Thread { _ = try? store.set(3, forKey: "c") }
      if !told.withLock({ $0.isEmpty }) { return }
      told.withLock { $0 = ["a", "b"].filter { change.concerns($0) } }
      thread.start()
      while !thread.isFinished { usleep(1_000) }
    }
    defer { observation.invalidate() }
    try store.set(1, forKey: "a")
    #expect(told.withLock(\.self) == ["a", "b"])
    #expect(values.withLock { $0["c"] } == 3)
  }

  @Test func `observers are told of what could not be taken back`() throws {
    let rows = Rows()
    let store = rows.store
    let told = Mutex(0)
    let observation = store.observe { change in if change.concerns("a") { told.withLock { $0 += 1 } } }
    defer { observation.invalidate() }
    let names = try ["a", "last", "b"].map { try PreferenceName($0) }
    let error = preferencesError { try store.apply(PreferenceEdits(names.map { .init($0, to: .value(1)) })) }
    #expect(error?.message.contains("could not be taken back") == true)
    #expect(told.withLock(\.self) == 1)
  }
}
