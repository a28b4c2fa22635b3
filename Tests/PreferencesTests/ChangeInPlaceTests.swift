import Preferences
import PreferencesOperators
import Synchronization
import Testing

private struct StoredLimits: Codable, Sendable, Equatable {
  var connections = 10
  var timeout = 30
  /// Added by a later version of the program, so the stored value has none.
  var retries: Int
}

private enum RawName: String { case k }

private struct Wrapped {
  @StoredPreference var number: Int
  @StoredPreference var optional: Int?
  @StoredPreference var limits: StoredLimits

  init(_ store: any PreferencesStore) {
    _number = StoredPreference(wrappedValue: 0, "k", in: store)
    _optional = StoredPreference("k", in: store)
    _limits = StoredPreference(.codable("k", default: StoredLimits(retries: 3)), in: store)
  }
}

/// A change in place, through an accessor that cannot throw.
private struct Accessor: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// A value that the accessor cannot read.
  let unreadable: PreferenceValue
  let change: @Sendable (any PreferencesStore) -> Void

  init(_ name: String, over unreadable: PreferenceValue, _ change: @escaping @Sendable (any PreferencesStore) -> Void) {
    (testDescription, self.unreadable, self.change) = (name, unreadable, change)
  }

  private static let key = PreferenceKey("k", default: 0)
  private static let limits = PreferenceKey<StoredLimits>.codable("k", default: StoredLimits(retries: 3))

  static let all: [Self] = [
    Self("a member of a struct", over: ["connections": 50, "timeout": 60]) { $0[limits].timeout = 5 },
    Self("a member of a dictionary", over: "text") {
      $0[PreferenceKey<[String: PreferenceValue]>("k", default: [:])]["number"] = 3
    },
    Self("an element", over: ["a", 1]) { $0[PreferenceKey("k", default: ["b"])][0] = "c" },
    Self("a call that mutates", over: ["a", 1]) { $0[PreferenceKey("k", default: ["b"])].append("c") },
    Self("an inout argument", over: "text") { store in
      func increase(_ number: inout Int) { number += 1 }
      increase(&store[key])
    },
    Self("a key's subscript", over: "text") { $0[key] += 1 },
    Self("an optional key's subscript", over: "text") { $0[PreferenceKey<Int?>("k")]? += 1 },
    Self("a name's subscript", over: "text") { store in
      func change(_ number: inout Int?) { number = (number ?? 0) + 1 }
      change(&store["k"])
    },
    Self("a raw name's subscript", over: "text") { store in
      func change(_ number: inout Int?) { number = (number ?? 0) + 1 }
      change(&store[RawName.k])
    },
    Self("a chain of optionals", over: "text") { store in
      func add(_ text: inout [String]?) { text?.append("c") }
      add(&store["k"])
    },
    Self("a wrapper", over: "text") { store in
      Wrapped(store).number += 1
    },
    Self("a wrapper of an optional", over: "text") { store in
      Wrapped(store).optional? += 1
    },
    Self("a member of a wrapper", over: ["connections": 50]) { store in
      Wrapped(store).limits.timeout = 5
    },
    Self("a wrapper as a handle", over: "text") { StoredPreference(key, in: $0).value += 1 },
    Self("a handle", over: "text") { $0.preference(for: key).value? += 1 },
    Self("a handle with a substitute", over: "text") {
      $0.preference("k", as: Int.self).whenNil(use: 5).value? += 1
    },
    Self("a handle's number", over: "text") { store in
      #expect(throws: PreferencesError.self) { try store.preference("k", as: Int.self) += 1 }
    },
    Self("a member", over: "text") { store in
      func change(_ store: some PreferencesStore) {
        func change(_ number: inout Int?) { number = (number ?? 0) + 1 }
        change(&store.members.k)
      }
      change(store)
    },
    Self("a transformed value", over: .integer(5)) { store in
      func change(_ text: inout [UInt8]?) { text = [1] }
      let bytes = TwoWayTransformation<String, [UInt8]>(
        reading: { Array($0.utf8) }, writing: { String(decoding: $0, as: UTF8.self) })
      change(&store["k", bytes])
    },
  ]
}

struct ChangeInPlaceTests {
  @Test(arguments: Accessor.all)
  private func `a change in place writes nothing if the value cannot be read`(_ accessor: Accessor) throws {
    let store = DictionaryPreferences(["k": accessor.unreadable])
    let writes = Mutex(0)
    let observation = store.observe { _ in writes.withLock { $0 += 1 } }
    let failures = Mutex<[String]>([])
    PreferenceFailures.withHandler { failure in
      failures.withLock { $0.append(failure.key) }
    } _: {
      accessor.change(store)
    }
    #expect(store.value(for: try PreferenceQuery("k")) == accessor.unreadable)
    #expect(writes.withLock(\.self) == 0)
    if accessor.testDescription != "a handle's number" { #expect(failures.withLock(\.self) == ["k"]) }
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: Accessor.all)
  private func `a change in place writes nothing if the store cannot be read`(_ accessor: Accessor) throws {
    let store = UnreadablePreferences()
    PreferenceFailures.withHandler({ _ in }) { accessor.change(store) }
    #expect(store.writes.withLock(\.self) == 0)
  }

  @Test func `a change in place of a value that can be read is written`() throws {
    let store = DictionaryPreferences(["k": 5, "l": ["connections": 50, "timeout": 60, "retries": 1]])
    let key = PreferenceKey("k", default: 0)
    store[key] += 1
    store.preference(for: key).value? += 1
    StoredPreference(key, in: store).value += 1
    Wrapped(store).number += 1
    #expect(try store.value(for: key) == 9)
    let limits = PreferenceKey<StoredLimits>.codable("l", default: StoredLimits(retries: 3))
    store[limits].timeout = 5
    #expect(try store.value(for: limits) == StoredLimits(connections: 50, timeout: 5, retries: 1))
    store[PreferenceKey("new", default: 40)] += 2
    #expect(store["new"] == 42)
  }

  @Test func `an assignment replaces a value that cannot be read`() throws {
    let store = DictionaryPreferences(["k": "text"])
    store[PreferenceKey("k", default: 0)] = 1
    #expect(store["k"] == 1)
  }
}

/// A store whose reads fail, and whose writes succeed.
private final class UnreadablePreferences: PreferencesStore {
  let name = "unreadable"
  let writes = Mutex(0)

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { throw PreferencesError(.unavailable, "broken") }
  func names(of secrecy: Secrecy) throws -> [PreferenceName] { throw PreferencesError(.unavailable, "broken") }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    writes.withLock { $0 += 1 }
    return .visible
  }
}
