internal import FoundationEssentials
internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Removals and refused writes.
  static let writing =
    removals(by: waysToRemove) + [
      removalOfNothing("removing what is absent changes nothing and is no error", by: waysToRemove),

      // MARK: 9
      ConformanceRule(9, "values at the edge come back, or are refused with the old value kept") { fixture in
        for (name, value) in try edges() { try expectKeptOrRefused(value, name, fixture) }
      },
      ConformanceRule(9, "a merge that is refused stores nothing of it") { fixture in
        let first = try fixture.makeStore()
        try first.set(["a": "old", "b": "old"])
        let store = try fixture.reopened(first)
        #expect(throws: (any Error).self) { try store.set(["a": "new", "": "bad", "b": "new"]) }
        for reader in [store, try fixture.reopened(store)] {
          #expect(try reader.dictionary(revealingSecrets: true) == ["a": "old", "b": "old"])
        }
        try expectWholeOrNothing(store)
      },
    ]

  /// A rule for each of the ways to remove a value.
  static func removals(by ways: [WayToRemove]) -> [ConformanceRule] {
    ways.map { way in
      ConformanceRule(8, "a value is removed by \(way.name)", requires: way.requirements) { fixture in
        let store = try fixture.makeStore()
        try way.write(store)
        try store.set("stays", forKey: "other")
        let full = try fixture.reopened(store)
        #expect(try full.contains("text"))
        let reported = try reportedFailures { try way.remove(full) }
        #expect(reported == 0)
        for reader in [full, try fixture.reopened(full)] {
          #expect(try reader.value(forKey: "text") == nil)
          #expect(try !reader.contains("text"))
          #expect(try reader.keys() == ["other"])
        }
      }
    }
  }

  /// A rule that removes, in each of the ways that every store has, a value that there is not.
  static func removalOfNothing(_ title: String, by ways: [WayToRemove]) -> ConformanceRule {
    ConformanceRule(8, title) { fixture in
      let store = try fixture.makeStore()
      try store.set("stays", forKey: "other")
      let reported = try reportedFailures {
        for way in ways where way.requirements.isEmpty { try way.remove(store) }
      }
      #expect(reported == 0)
      #expect(try fixture.reopened(store).keys() == ["other"])
    }
  }

  private static let waysToRemove: [WayToRemove] = [
    WayToRemove("removeValue") { try $0.removeValue(forKey: "text") },
    WayToRemove("a subscript with nil") { $0["text"] = nil },
    WayToRemove("a key's subscript with nil") { $0[.key("text") as PreferenceKey<String?>] = nil },
    WayToRemove("setting a key to nil") { try $0.set(nil, for: .key("text") as PreferenceKey<String?>) },
    WayToRemove("setting a key of another type to nil") { try $0.set(nil, for: .key("text") as PreferenceKey<URL?>) },
    WayToRemove("resetting a key") { try $0.reset(PreferenceKey("text", default: "")) },
    WayToRemove("edits") { store in try store.edit { try $0.removeValue(forKey: "text") } },
    WayToRemove("a compare-and-set to nil") { store in
      let old = try store.value(forKey: "text")
      #expect(try store.compareAndSet(old, to: nil, forKey: "text") == .visible)
    },
    WayToRemove("an update to nil") { try $0.update(.key("text") as PreferenceKey<String?>) { $0 = nil } },
  ]
}

/// Writes an invalid date together with another value, and expects that the store keeps both or neither.
private func expectWholeOrNothing(_ store: any PreferencesStore) throws {
  let noMoment = PreferenceValue.date(Date(timeIntervalSinceReferenceDate: .nan))
  let refusal = failure { try store.set(["a": noMoment, "b": "new"]) }
  #expect(try store.value(forKey: "b") == (refusal == nil ? "new" : "old"))
}

/// One way to remove the value under `text`, and how it is written before.
struct WayToRemove: Sendable {
  let name: String
  let requirements: [StoreRequirement]
  let write: @Sendable (any PreferencesStore) throws -> Void
  let remove: @Sendable (any PreferencesStore) throws -> Void

  init(
    _ name: String, requires requirements: [StoreRequirement] = [],
    writing write: @escaping @Sendable (any PreferencesStore) throws -> Void = { try $0.set("word", forKey: "text") },
    _ remove: @escaping @Sendable (any PreferencesStore) throws -> Void
  ) {
    self.name = name
    self.requirements = requirements
    self.write = write
    self.remove = remove
  }
}

/// Values that some file formats cannot represent exactly, and values of unusual size or depth. A store keeps such a
/// value unchanged or refuses it.
private func edges() throws -> [(String, PreferenceValue)] {
  func nested(_ depth: Int, _ wrap: (PreferenceValue) -> PreferenceValue) -> PreferenceValue {
    (0..<depth).reduce("innermost") { value, _ in wrap(value) }
  }
  var wide: [String: PreferenceValue] = [:]
  for number in 0..<2000 { wide["entry \(number)"] = .integer(Int64(number)) }
  return [
    ("100 arrays in each other", nested(100) { [$0] }),
    ("1,000 arrays in each other", nested(1000) { [$0] }),
    ("1,000 dictionaries in each other", nested(1000) { ["in": $0] }),
    ("2,000 entries", .dictionary(wide)),
    ("128 KiB of text", .string(String(repeating: "0123456789abcdef", count: 1 << 13))),
    ("256 KiB of data", .data(Data(count: 256 << 10))),
    ("no text", ""), ("no data", .data(Data())), ("no elements", []), ("no entries", [:]),
    ("nothing in nothing", [[], [:]]),
    ("an entry without a name", ["": 1]),
    ("names of marks", ["$url": "no URL", "$data": [1], "$": 2, "$$url": 3]),
    ("one name of a mark", ["$url": "x"]), ("one longer name of a mark", ["$$date": 0.5]),
    ("$double", ["$double": "nan"]),
    ("$data that is none", ["$data": "%"]), ("$unsigned", ["$unsigned": 1]), ("an unknown mark", ["$ref": "x"]),
    ("names of two entries that are one in NFC", ["e\u{301}": 1]),
    ("line ends", "a\r\nb\rc\nd\u{2028}e\u{85}f"), ("spaces around", "  \t x \n "), ("a null character", "a\u{0}b"),
    ("control characters", "\u{1}\u{8}\u{B}\u{C}\u{1F}\u{7F}"), ("non-characters", "\u{FFFE}\u{FFFF}\u{1FFFF}"),
    ("a byte order mark", "\u{FEFF}x"), ("markup", "<![CDATA[ & ]]> --> &amp; \"'"),
    ("composed and decomposed", "\u{E9} e\u{301} \u{212B} 👩‍👩‍👧‍👦"),
    ("a date between milliseconds", .date(Date(timeIntervalSinceReferenceDate: 0.123456789))),
    ("the first date", .date(.distantPast)), ("the last date", .date(.distantFuture)),
    ("a date beyond the years", .date(Date(timeIntervalSinceReferenceDate: 1e300))),
    ("a date that is no moment", .date(Date(timeIntervalSinceReferenceDate: .nan))),
    ("a date at infinity", .date(Date(timeIntervalSinceReferenceDate: -.infinity))),
    ("bytes of every value", .data(Data(0...255))),
  ]
}
