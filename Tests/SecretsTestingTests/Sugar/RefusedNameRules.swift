import Preferences
@testable import SecretsTesting
import Testing

extension ConformanceRule {
  /// Names against the rule, which no store is ever asked for.
  static let nameRefusals = waysToName.map { way in
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
  }

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

private struct WayToName: Sendable {
  let name: String
  let use: @Sendable (any PreferencesStore, String) throws -> Void

  init(_ name: String, _ use: @escaping @Sendable (any PreferencesStore, String) throws -> Void) {
    self.name = name
    self.use = use
  }
}
