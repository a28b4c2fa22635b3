internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Names of values.
  static let names = [
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

  private static let allowedNames = [
    "a", "a.b", "a.b.c", ".", "..", ".a", "a.", "a b", " ", "🔑", "ключ", "鍵", "a/b", "a:b", "a=b", "-a", "@a", "$url",
    "%s",
    "\"quoted\"", "\\", "<a>&", "*", "0", "A", "n\u{303}",
  ]
}

private func longName(_ character: Character, _ fixture: StoreFixture) -> String {
  String(repeating: character, count: fixture.longestName / character.utf8.count)
}
