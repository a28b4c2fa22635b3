internal import FoundationEssentials
internal import Preferences
internal import Testing

extension ConformanceRule {
  /// What every reader gets by listing its keys and returning their values.
  static let reading = [
    // MARK: 1
    ConformanceRule(reading: 1, "every typed getter gives what is stored") { fixture in
      let day = Date(timeIntervalSinceReferenceDate: 86_400)
      let link = try #require(URL(string: "https://example.com/?q=1"))
      let reader = try await fixture.makeReader([
        "text": "word", "data": .data(Data([0, 255])), "flag": true, "count": -7, "share": 0.5, "day": .date(day),
        "link": .url(link),
      ])
      #expect(try reader.string(forKey: "text") == "word")
      #expect(try reader.data(forKey: "data") == Data([0, 255]))
      #expect(try reader.bool(forKey: "flag") == true)
      #expect(try reader.integer(forKey: "count") == -7)
      #expect(try reader.double(forKey: "share") == 0.5)
      #expect(try reader.float(forKey: "share") == 0.5)
      #expect(try reader.date(forKey: "day") == day)
      #expect(try reader.url(forKey: "link") == link)
      #expect(try reader.value(for: .key("count")) as Int8? == -7)
    },
    ConformanceRule(reading: 1, "lists and dictionaries are returned by name", requires: [.lists]) { fixture in
      let reader = try await fixture.makeReader([
        "words": ["a", "b"], "mixed": ["a", 1], "empty": [], "server": ["host": "a", "ports": [80, 443]],
        "text": "word",
      ])
      #expect(try reader.array(forKey: "mixed") == ["a", 1])
      #expect(try reader.array(forKey: "empty") == [])
      #expect(try reader.stringArray(forKey: "words") == ["a", "b"])
      #expect(try reader.dictionary(forKey: "server") == ["host": "a", "ports": [80, 443]])
      #expect(try reader.value(forKey: "words", as: Set<String>.self) == ["a", "b"])
      #expect(try reader.array(forKey: "none") == nil)
      #expect(try reader.stringArray(forKey: "none") == nil)
      #expect(try reader.dictionary(forKey: "none") == nil)
      #expect(code { _ = try reader.stringArray(forKey: "mixed") } == .typeMismatch)
      #expect(code { _ = try reader.dictionary(forKey: "words") } == .typeMismatch)
      #expect(code { _ = try reader.array(forKey: "server") } == .typeMismatch)
      #expect(code { _ = try reader.array(forKey: "text") } == .typeMismatch)
    },
    ConformanceRule(reading: 1, "a name with a value is present, and no other is") { fixture in
      let reader = try await fixture.makeReader(["text": "", "word": "x"])
      for key in ["text", "word"] { #expect(try reader.contains(key), "\(key)") }
      for key in ["tex", "texts", "text.word", "TEXTS", "none"] { #expect(try !reader.contains(key), "\(key)") }
    },

    // MARK: 2
    ConformanceRule(reading: 2, "the keys and their values are the dictionary") { fixture in
      let values: [String: PreferenceValue] = ["text": "word", "word": "", "other": "x y"]
      let reader = try await fixture.makeReader(values)
      #expect(try reader.keys().sorted() == values.keys.sorted())
      #expect(try reader.dictionary(revealingSecrets: true) == values)
    },
    ConformanceRule(2, "keys and dictionary follow what is set, replaced and removed") { fixture in
      let store = try fixture.makeStore()
      #expect(try store.keys() == [])
      try store.set(["a": 1, "b": [2, "two"], "c": ["in": 3]])
      try store.set("x", forKey: "a")
      try store.removeValue(forKey: "b")
      let keys = try store.keys()
      #expect(Set(keys).count == keys.count)
      #expect(keys.contains("a"))
      #expect(!keys.contains("b"))
      // A store may list a dictionary by its entries if each entry has a value.
      for key in keys { #expect(try store.contains(key), "\(key)") }
      #expect(try store.dictionary(revealingSecrets: true)["a"] == "x")
      #expect(try store.value(forKey: "c") == ["in": 3])
    },

    // MARK: 3
    ConformanceRule(reading: 3, "what is absent is nil, or the key's default") { fixture in
      let reader = try await fixture.makeReader([:])
      #expect(try reader.keys() == [])
      #expect(try reader.value(forKey: "none") == nil)
      #expect(try reader.string(forKey: "none") == nil)
      #expect(try reader.data(forKey: "none") == nil)
      #expect(try reader.bool(forKey: "none") == nil)
      #expect(try reader.integer(forKey: "none") == nil)
      #expect(try reader.double(forKey: "none") == nil)
      #expect(try reader.date(forKey: "none") == nil)
      #expect(try reader.url(forKey: "none") == nil)
      #expect(try reader.value(for: PreferenceKey("none", default: 8080)) == 8080)
      #expect(try reader.storedValue(for: PreferenceKey("none", default: 8080)) == nil)
    },
    ConformanceRule(reading: 3, "a value of another type is thrown as a mismatch, never nil or zero") { fixture in
      let reader = try await fixture.makeReader(["text": "wörd?"])
      #expect(code { _ = try reader.integer(forKey: "text") } == .typeMismatch)
      #expect(code { _ = try reader.bool(forKey: "text") } == .typeMismatch)
      #expect(code { _ = try reader.double(forKey: "text") } == .typeMismatch)
      #expect(code { _ = try reader.data(forKey: "text") } == .typeMismatch)
      #expect(code { _ = try reader.date(forKey: "text") } == .typeMismatch)
      #expect(code { _ = try reader.value(for: .key("text")) as [Int]? } == .typeMismatch)
    },
    ConformanceRule(reading: 3, "a number that the type cannot hold is out of range") { fixture in
      let reader = try await fixture.makeReader(["count": 300, "below": -1])
      #expect(code { _ = try reader.value(for: .key("count")) as Int8? } == .outOfRange)
      #expect(failure { _ = try reader.value(for: .key("below")) as UInt64? } is PreferencesError)
    },
    ConformanceRule(3, "a value that was read as another type stays as it is") { fixture in
      let store = try fixture.makeStore()
      try store.set("word", forKey: "text")
      _ = failure { _ = try store.integer(forKey: "text") }
      #expect(try store.value(forKey: "text") == "word")
      #expect(try fixture.reopened(store).value(forKey: "text") == "word")
    },
    ConformanceRule(
      3, "what cannot be read is thrown, and not replaced by an empty store", requires: [.damageable]
    ) { fixture in
      let store = try fixture.reopened(try fixture.makeStore())
      try store.set("word", forKey: "text")
      let saved = try fixture.reopened(store)
      try fixture.damage(saved)
      for _ in 1...2 {
        #expect(throws: (any Error).self, "a damaged store reads as one that is absent or empty") {
          _ = try fixture.reopened(saved).value(forKey: "text")
        }
        #expect(throws: (any Error).self, "a damaged store was written over") {
          try saved.set("new", forKey: "other")
          _ = try fixture.reopened(saved)
        }
      }
    },
  ]
}
