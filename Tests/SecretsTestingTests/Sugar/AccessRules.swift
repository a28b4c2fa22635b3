import Preferences
import PreferencesOperators
@testable import SecretsTesting
import Testing

/// A name that is the case of an enum.
enum EnumName: String {
  case text
  case word
}

extension ConformanceRule {
  /// Subscripts, members, operators and namespaces.
  static let access = [
    // MARK: 1
    ConformanceRule(reading: 1, "subscripts by name, by enum and by declared key give what is stored") { fixture in
      let reader = try await fixture.makeReader(["text": "word"])
      #expect(try reader.contains(EnumName.text))
      #expect(try !reader.contains(EnumName.word))
      let reported = reportedFailures {
        #expect(reader["text"] == "word")
        #expect(reader[EnumName.text] == "word")
        #expect(reader[.key("text")] as String? == "word")
        #expect(reader["none"] == nil)
        #expect(reader[PreferenceKey("none", default: "default")] == "default")
      }
      #expect(reported == 0)
    },
    ConformanceRule(reading: 1, "members give plain values, and of a sealed store none") { fixture in
      let reader = try await fixture.makeReader(["text": "word"])
      let isSealed = !reader.custody.holds(.plain)
      let reported = reportedFailures { #expect(memberText(reader) == (isSealed ? nil : "word")) }
      #expect(reported == (isSealed ? 1 : 0))
    },

    // MARK: 3
    ConformanceRule(reading: 3, "a subscript returns the default after a failure, and reports the failure") { fixture in
      let reader = try await fixture.makeReader(["text": "wörd?"])
      let reported = reportedFailures {
        #expect(reader[PreferenceKey("text", default: 8080)] == 8080)
        #expect(reader[.key("text")] as Int? == nil)
        #expect(reader[""] == nil)
      }
      #expect(reported == 3)
    },

    // MARK: 38
    ConformanceRule(38, "names, enum cases and declared constants reach the same value") { fixture in
      let store = try fixture.makeStore()
      let key: PreferenceKey<String?> = .key("text")
      let writes: [(any PreferencesStore) throws -> Void] = [
        { try $0.set("new", forKey: "text") }, { try $0.set("new", forKey: EnumName.text) },
        { $0["text"] = "new" }, { $0[EnumName.text] = "new" }, { try $0.set("new", for: key) }, { $0[key] = "new" },
      ]
      for write in writes {
        try write(store)
        #expect(try store.value(forKey: "text") == "new")
        #expect(try store.value(forKey: EnumName.text) == "new")
        #expect(store["text"] == "new")
        #expect(store[EnumName.text] == "new")
        #expect(try store.value(for: key) == "new")
        #expect(try store.value(for: PreferenceKey(EnumName.text, default: "")) == "new")
        #expect(store[key] == "new")
        try store.removeValue(forKey: EnumName.text)
        #expect(try !store.contains("text"))
      }
    },
    ConformanceRule(38, "members and plain keys reach the same value", requires: [.takes(.plain)]) { fixture in
      let store = try fixture.makeStore()
      let key: PreferenceKey<String?> = PreferenceKey("text")
      let reported = try reportedFailures {
        setText("member", in: store)
        #expect(try store.value(for: key) == "member")
        #expect(text(in: store) == "member")
        try store.set("key", for: key)
        #expect(text(in: store) == "key")
      }
      #expect(reported == 0)
    },
    ConformanceRule(38, "a change in place writes nothing if the value cannot be read") { fixture in
      let store = try fixture.makeStore()
      try store.set("text", forKey: "a")
      let reported = reportedFailures { increase("a", in: store) }
      #expect(reported == 3)
      #expect(try store.value(forKey: "a") == "text")
      try store.set(5, forKey: "a")
      increase("a", in: store)
      #expect(try store.value(forKey: "a") == 8)
    },
    // The members of a composite reach the names that its sealed layers claim.
    ConformanceRule(38, "members cannot reach sealed values", requires: [.takes(.secret), .leavesNames]) { fixture in
      let store = try fixture.makeStore()
      try store.set("SENTINEL-5f3a", for: .secret("text"))
      let reported = reportedFailures {
        #expect(text(in: store) == nil)
        setText("member", in: store)
      }
      #expect((reported > 0) != store.custody.takes(.plain))
      #expect(try store.value(for: .secret("text")) == "SENTINEL-5f3a")
    },

    // MARK: 39
    ConformanceRule(39, "+= stores a dictionary, pairs and another store over existing values") { fixture in
      let store = try fixture.makeStore()
      try store.set(["a": 1, "stays": 0])
      try addAll(to: store)
      #expect(try store.dictionary(revealingSecrets: true) == ["a": 2, "b": 4, "c": 5, "stays": 0])
      #expect(try fixture.reopened(store).dictionary(revealingSecrets: true).count == 4)
    },
    ConformanceRule(39, "+= from this store takes everything over, and what is sealed only into what is sealed") {
      fixture in
      let store = try fixture.makeStore()
      try store.set(["a": 1, "b": [2]])
      let sealed = FailingPreferences(isSealed: true)
      try add(store, to: sealed)
      #expect(try sealed.dictionary(revealingSecrets: true) == ["a": 1, "b": [2]])
      let plain = DictionaryPreferences()
      let isHeldSealed = try store.dictionary()["a"] == .redacted
      let failed = code { try add(store, to: plain) }
      #expect(failed == (isHeldSealed ? .noStore : nil))
      #expect(plain.keys() == (isHeldSealed ? [] : ["a", "b"]))
    },
    ConformanceRule(39, "?= fills gaps only, and computes no more than those") { fixture in
      let store = try fixture.makeStore()
      try store.set("old", forKey: "a")
      try fill(store, ["a": "new", "b": "new"])
      #expect(try store.dictionary(revealingSecrets: true) == ["a": "old", "b": "new"])
      let made = Collected<String>()
      try fill(store, makers: ["b", "c"]) { key in
        made.append(key)
        return "made"
      }
      #expect(made.all == ["c"])
      #expect(try store.value(forKey: "b") == "new")
      #expect(try fixture.reopened(store).value(forKey: "c") == "made")
    },
    ConformanceRule(39, "-= removes one key, or several, and no other") { fixture in
      let store = try fixture.makeStore()
      try store.set(["a": 1, "b": 2, "c": 3, "d": 4])
      try subtract(from: store)
      #expect(try store.keys() == ["d"])
      #expect(try fixture.reopened(store).keys() == ["d"])
    },

    // MARK: 41
    ConformanceRule(41, "namespaces nest as their types do, and may say their prefix") { fixture in
      let store = try fixture.makeStore()
      try store.set(1, for: Shop.Server.port)
      try store.set(2, for: Shop.Renamed.port)
      try store.set(3, for: Shop.Rooted.port)
      let expected: [String: PreferenceValue] = ["shop.server.port": 1, "shop.other.port": 2, "top/port": 3]
      #expect(try fixture.reopened(store).dictionary(revealingSecrets: true) == expected)
    },
    ConformanceRule(41, "the keys of a namespace are a view of their own") { fixture in
      let store = try fixture.makeStore()
      try store.set(["shop.server.port": 1, "shop.name": 2, "other": 3])
      let view = below(Shop.Server.self, store)
      #expect(try view.dictionary(revealingSecrets: true) == ["port": 1])
      #expect(try below(Shop.self, store).keys().sorted() == ["name", "server.port"])
      try view.removeAll()
      #expect(try store.keys().sorted() == ["other", "shop.name"])
    },
  ]
}

private enum Shop: PreferenceNamespace {
  enum Server: PreferenceNamespace {
    typealias Parent = Shop
    static var port: PreferenceKey<Int> { key("port", default: 0) }
  }
  enum Renamed: PreferenceNamespace {
    typealias Parent = Shop
    static var segment: String { "other" }
    static var port: PreferenceKey<Int> { key("port", default: 0) }
  }
  enum Rooted: PreferenceNamespace {
    typealias Parent = Shop
    static var prefix: String { "top/" }
    static var port: PreferenceKey<Int> { key("port", default: 0) }
  }
}

/// Adds one in place, in three ways that cannot throw.
private func increase(_ name: String, in store: some PreferencesStore) {
  let key = PreferenceKey(name, default: 0)
  store[key] += 1
  store.preference(for: key).value? += 1
  StoredPreference(key, in: store).value += 1
}

private func text(in store: some PreferencesStore) -> PreferenceValue? { store.members.text }

private func setText(_ value: PreferenceValue?, in store: some PreferencesStore) { store.members.text = value }

private func addAll(to store: some PreferencesStore) throws {
  try store += ["a": 2, "b": 3]
  try store += [("b", 4), ("c", 4), ("c", 5)]
  try store += ["a": 2] as DictionaryPreferences
}

private func fill(_ store: some PreferencesStore, _ values: [String: PreferenceValue]) throws { try store ?= values }

private func fill(
  _ store: some PreferencesStore, makers keys: [String], _ make: @escaping (String) -> PreferenceValue
) throws {
  try store ?= Dictionary(uniqueKeysWithValues: keys.map { key in (key, { make(key) }) })
}

private func subtract(from store: some PreferencesStore) throws {
  try store -= "a"
  try store -= ["b", "c", "none"]
}

private func below<Namespace: PreferenceNamespace>(
  _ namespace: Namespace.Type, _ store: some PreferencesStore
) -> any PreferencesStore {
  store.below(namespace)
}

private func memberText(_ reader: some PreferencesReader) -> PreferenceValue? { reader.members.text }

func add(_ other: some PreferencesReader, to store: some PreferencesStore) throws { try store += other }
