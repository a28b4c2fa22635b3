import Foundation
import Preferences
import PreferencesOperators
import SecretsTesting
import Testing

/// The conformance suite as the author of a different package uses it, with what is public, on a store over a file.
struct StrangersStoreTests {
  static let database = StoreUnderTest(
    "database",
    reopening: { store, _ in try DatabasePreferences(at: path(of: store)) },
    damaging: { store, _ in
      let url = URL(filePath: try path(of: store))
      try Data(try Data(contentsOf: url).map(~)).write(to: url)
    },
    make: { try DatabasePreferences(at: $0.folder + "/" + $0.uniqueName()) })

  private static func path(of store: any PreferencesStore) throws -> String {
    guard let database = store as? DatabasePreferences else { throw WrongStore() }
    return database.path
  }

  @Test(arguments: ConformanceRule.all.filter { $0.applies(to: database) })
  func `our store conforms`(rule: ConformanceRule) async { await rule.check(Self.database) }

  /// Not a part of what a stranger runs.
  @Test(arguments: ConformanceRule.sugar.filter { $0.applies(to: database) })
  func `what the package does with any store works over a store that conforms`(rule: ConformanceRule) async {
    await PreferencesRegistry.with(PreferencesRegistry()) { await rule.check(Self.database) }
  }
}
