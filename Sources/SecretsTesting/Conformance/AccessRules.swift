import PreferencesOperators
internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Names, operators and namespaces.
  static let access =
    [
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

      // MARK: 40
      ConformanceRule(40, "every name that the rule allows is stored, listed and reopened") { fixture in
        let store = try fixture.makeStore()
        let allowedNames = allowedNames + [longName("x", fixture), longName("🔑", fixture)]
        for name in allowedNames {
          try store.set(.string(name), forKey: name)
          #expect(try store.contains(name), "\(name.debugDescription)")
        }
        for reader in [store, try fixture.reopened(store)] {
          let keys = try reader.keys()
          #expect(Set(keys) == Set(allowedNames))
          #expect(keys.count == allowedNames.count)
          for name in allowedNames {
            #expect(try reader.value(forKey: name) == .string(name), "\(name.debugDescription)")
          }
        }
        for name in allowedNames {
          try store.removeValue(forKey: name)
          #expect(try !store.contains(name), "\(name.debugDescription)")
        }
        #expect(try store.keys() == [])
      },
      ConformanceRule(40, "a name with a dot is no part of the name before it") { fixture in
        let store = try fixture.makeStore()
        try store.set(1, forKey: "server")
        try store.set(2, forKey: "server.port")
        for reader in [store, try fixture.reopened(store)] {
          #expect(try reader.value(forKey: "server") == 1)
          #expect(try reader.value(forKey: "server.port") == 2)
        }
        try store.removeValue(forKey: "server")
        #expect(try fixture.reopened(store).dictionary(revealingSecrets: true) == ["server.port": 2])
      },
      ConformanceRule(40, "composed and decomposed accents are one name") { fixture in
        let store = try fixture.makeStore()
        try store.set(1, forKey: "caf\u{E9}")
        #expect(try store.value(forKey: "cafe\u{301}") == 1)
        try store.set(2, forKey: "cafe\u{301}")
        let reopened = try fixture.reopened(store)
        #expect(try reopened.keys() == ["caf\u{E9}"])
        #expect(try reopened.value(forKey: "caf\u{E9}") == 2)
        try reopened.removeValue(forKey: "cafe\u{301}")
        #expect(try reopened.keys() == [])
      },
      ConformanceRule(40, "observers are notified of odd names as of others") { fixture in
        let store = try fixture.makeStore()
        for name in allowedNames {
          let received = Collected<Bool>()
          let observation = store.observe { received.append($0.concerns(name)) }
          try store.set("x", forKey: name)
          observation.invalidate()
          #expect(received.all.contains(true), "\(name.debugDescription)")
        }
      },
    ]
    + waysToName.map { way in
      ConformanceRule(40, "a name against the rule is refused: \(way.name)") { fixture in
        let store = try fixture.makeStore()
        try store.set("stays", forKey: "other")
        for name in refusedNames {
          let error = failure { try way.use(store, name) }
          #expect(error != nil, "\(name.prefix(20).debugDescription)")
          #expect(error.map { !"\($0)".contains("\u{0}") } ?? true)
        }
        #expect(try fixture.reopened(store).dictionary(revealingSecrets: true) == ["other": "stays"])
      }
    } + [
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

  private static let allowedNames = [
    "a", "a.b", "a.b.c", ".", "..", ".a", "a.", "a b", " ", "🔑", "ключ", "鍵", "a/b", "a:b", "a=b", "-a", "@a", "$url",
    "%s",
    "\"quoted\"", "\\", "<a>&", "*", "0", "A", "n\u{303}",
  ]

  private static let refusedNames = [
    "", "a\nb", "\u{0}", "a\u{1F}", "\u{7F}", "\u{85}", "\u{9F}", String(repeating: "x", count: 1025),
    String(repeating: "🔑", count: 257), String(repeating: "e\u{301}", count: 400),
  ]

  private static let waysToName: [WayToName] = [
    WayToName("value") { _ = try $0.value(forKey: $1) },
    WayToName("value of a kind") { _ = try $0.value(for: PreferenceQuery($1, as: .string)) },
    WayToName("a question") { _ = try $0.lookUp(PreferenceQuery($1)) },
    WayToName("contains") { _ = try $0.contains($1) },
    WayToName("a key") { _ = try $0.value(for: .key($1)) as String? },
    WayToName("set") { try $0.set("new", forKey: $1) },
    WayToName("set of a key") { try $0.set("new", for: .key($1)) },
    WayToName("merge") { try $0.set([$1: "new"]) },
    WayToName("removal") { try $0.removeValue(forKey: $1) },
    WayToName("reset") { try $0.reset(.key($1) as PreferenceKey<String?>) },
    WayToName("edits") { store, name in try store.edit { try $0.set("new", forKey: name) } },
    WayToName("compare-and-set") { try $0.compareAndSet(nil, to: "new", forKey: $1) },
    WayToName("update") { try $0.update(.key($1) as PreferenceKey<String?>) { $0 = "new" } },
  ]
}

private func longName(_ character: Character, _ fixture: StoreFixture) -> String {
  String(repeating: character, count: fixture.longestName / character.utf8.count)
}

private struct WayToName: Sendable {
  let name: String
  let use: @Sendable (any PreferencesStore, String) throws -> Void

  init(_ name: String, _ use: @escaping @Sendable (any PreferencesStore, String) throws -> Void) {
    (self.name, self.use) = (name, use)
  }
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
