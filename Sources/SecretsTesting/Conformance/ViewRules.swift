internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Views of the store's keys below a prefix, and under other names.
  static let views = [
    // MARK: 36
    ConformanceRule(36, "a prefix maps keys both ways") { fixture in
      let store = try fixture.makeStore()
      let view = below("server.", store)
      try view.set(8080, forKey: "port")
      try store.set("example.com", forKey: "server.host")
      #expect(try store.value(forKey: "server.port") == 8080)
      #expect(try view.value(forKey: "host") == "example.com")
      #expect(try fixture.reopened(store).value(forKey: "server.port") == 8080)
      try view.removeValue(forKey: "host")
      #expect(try !store.contains("server.host"))
      let port: PreferenceKey<Int?> = .key("port")
      try view.update(port) { $0 = $0.map { $0 + 1 } }
      #expect(try store.integer(forKey: "server.port") == 8081)
    },
    ConformanceRule(reading: 36, "the dictionary below a prefix has the keys below it, without the prefix") { fixture in
      let reader = try await fixture.makeReader(["server.host": "a", "server.name": "b", "servers": "c", "other": "d"])
      let view = readingBelow("server.", reader)
      #expect(try view.keys().sorted() == ["host", "name"])
      #expect(try view.dictionary(revealingSecrets: true) == ["host": "a", "name": "b"])
      #expect(try view.string(forKey: "host") == "a")
      #expect(try readingBelow("serv", reader).keys().sorted() == ["er.host", "er.name", "ers"])
    },
    ConformanceRule(reading: 36, "an empty prefix changes nothing") { fixture in
      let values: [String: PreferenceValue] = ["text": "word", "server.port": "80"]
      let view = readingBelow("", try await fixture.makeReader(values))
      #expect(try view.dictionary(revealingSecrets: true) == values)
      for (key, value) in values { #expect(try view.value(forKey: key) == value) }
    },
    ConformanceRule(reading: 36, "a read-only view reads the same and is no store") { fixture in
      let reader = try await fixture.makeReader(["server.host": "a"])
      for view in [reader.readOnly, readingBelow("server.", reader.readOnly)] as [any PreferencesReader] {
        #expect(!(view is any PreferencesStore))
      }
      #expect(try reader.readOnly.dictionary(revealingSecrets: true) == ["server.host": "a"])
      #expect(try readingBelow("server.", reader.readOnly).value(forKey: "host") == "a")
      #expect(reader.readOnly.custody.holds(.secret) == reader.custody.holds(.secret))
    },
    ConformanceRule(36, "a view takes keys of the same secrecy as the store") { fixture in
      let store = try fixture.makeStore()
      let view = below("server.", store)
      let (short, long) = (try PreferenceName("a"), try PreferenceName("server.a"))
      for secrecy in [Secrecy.plain, .secret] {
        #expect(view.custody.holds(secrecy) == store.custody.holds(secrecy))
        #expect(view.custody.takes(secrecy) == store.custody.takes(secrecy))
        guard store.custody.takes(secrecy) else { continue }
        try view.edit(PreferenceEdits([.init(short, to: .value("new"), secrecy: secrecy)]))
        #expect(try store.lookUp(PreferenceQuery(long, secrecy: secrecy)) == "new")
        try view.edit(PreferenceEdits([.init(short, to: nil, secrecy: secrecy)]))
        #expect(try !store.contains("server.a"))
      }
    },

    // MARK: 37
    ConformanceRule(37, "removing all and merging below a prefix touch nothing else") { fixture in
      let store = try fixture.makeStore()
      try store.set(["server.port": 1, "server.in.port": 2, "servers": 3, "port": 4])
      let view = below("server.", store)
      try view.set(["port": 5, "new": 6])
      #expect(try store.value(forKey: "server.port") == 5)
      #expect(try store.value(forKey: "port") == 4)
      try view.removeAll()
      for reader in [store, try fixture.reopened(store)] {
        #expect(try reader.dictionary(revealingSecrets: true) == ["servers": 3, "port": 4])
      }
      #expect(try view.keys() == [])
    },
    ConformanceRule(37, "views of views have both prefixes") { fixture in
      let store = try fixture.makeStore()
      let inner = below("in.", below("server.", store))
      try inner.set(1, forKey: "port")
      #expect(try store.value(forKey: "server.in.port") == 1)
      try store.set(2, forKey: "server.port")
      try inner.removeAll()
      #expect(try store.dictionary(revealingSecrets: true) == ["server.port": 2])
    },
    ConformanceRule(reading: 37, "a missing key is nil, and so is the prefix itself") { fixture in
      let reader = try await fixture.makeReader(["server": "x", "server.host": "a"])
      let view = readingBelow("server.", reader)
      #expect(try view.value(forKey: "none") == nil)
      #expect(try view.value(forKey: "host.none") == nil)
      #expect(throws: (any Error).self) { _ = try view.value(forKey: "") }
      #expect(try readingBelow("none.", reader).keys() == [])
      #expect(try readingBelow("server", reader).keys() == [".host"])
    },
    ConformanceRule(37, "a merge with a name against the rule stores nothing below the prefix") { fixture in
      let store = try fixture.makeStore()
      let view = below("server.", store)
      #expect(throws: (any Error).self) { try view.set(["a": 1, "": 2]) }
      #expect(throws: (any Error).self) { try view.compareAndSet(nil, to: 1, forKey: "") }
      // Appended to the prefix, this accent would combine with the last letter, and the key would not be below the
      // prefix.
      #expect(throws: (any Error).self) {
        try below("serve", store).compareAndSet(nil, to: 1, forKey: "\u{301}a")
      }
      #expect(try store.keys() == [])
    },
    ConformanceRule(37, "under other names each key means one value, and nothing else is touched") { fixture in
      let store = try fixture.makeStore()
      try store.set(["old": 1, "other": 2])
      let view = try renaming(["new": "old"], in: store)
      #expect(try view.dictionary(revealingSecrets: true) == ["new": 1, "other": 2])
      #expect(try view.value(forKey: "old") == nil)
      try view.set(3, forKey: "new")
      #expect(try store.value(forKey: "old") == 3)
      #expect(throws: (any Error).self) { try view.set(4, forKey: "old") }
      try view.removeAll()
      #expect(try fixture.reopened(store).value(forKey: "other") == nil)
      #expect(try fixture.reopened(store).value(forKey: "old") == nil)
    },
  ]
}

func below(_ prefix: String, _ store: some PreferencesStore) -> any PreferencesStore { store.below(prefix) }

private func readingBelow(_ prefix: String, _ reader: some PreferencesReader) -> any PreferencesReader {
  reader.below(prefix)
}

private func renaming(_ names: [String: String], in store: some PreferencesStore) throws -> any PreferencesStore {
  try store.renaming(names)
}
