import Preferences
import SecretsTesting
import Testing

/// Stores with one fault, and the item that forbids it.
struct FaultyStore: Sendable, CustomTestStringConvertible {
  let item: Int
  /// Where a fault may concern sealed stores only, or others only, both kinds.
  let stores: [StoreUnderTest]

  var testDescription: String { stores[0].name }

  init(_ item: Int, _ stores: StoreUnderTest...) {
    self.item = item
    self.stores = stores
  }

  /// Each fault of one store, and those that take several objects.
  static let all: [FaultyStore] =
    FaultyPreferences.Fault.allCases.map { fault in
      FaultyStore(
        fault.item, StoreUnderTest(fault.rawValue) { _ in FaultyPreferences(fault, isSealed: false) },
        StoreUnderTest("\(fault.rawValue), sealed") { _ in FaultyPreferences(fault, isSealed: true) })
    } + [forgiving, forgetting, overwriting, spilling, exchanging]

  /// Reads as empty when what it is kept in is damaged.
  private static let forgiving = FaultyStore(
    3,
    StoreUnderTest(
      "3: takes damage for an empty store", reopening: { store, _ in store },
      damaging: { store, _ in try store.removeAll() },
      make: { _ in DictionaryPreferences() }))

  /// Ends with its object although it is said not to.
  private static let forgetting = FaultyStore(
    24,
    StoreUnderTest("24: forgets everything when it is opened again", reopening: { _, _ in DictionaryPreferences() }) {
      _ in DictionaryPreferences()
    })

  /// Writes everything that it has read, over what others have written since.
  private static let overwriting = FaultyStore(
    14,
    StoreUnderTest(
      "14: writes over what others have written",
      reopening: { store, _ in
        guard let store = store as? OverwritingPreferences else { return store }
        return OverwritingPreferences(store.file)
      },
      make: { _ in OverwritingPreferences(DictionaryPreferences()) }))

  /// All stores are one.
  private static let spilling = FaultyStore(
    24, StoreUnderTest("24: shares its values with others") { $0.kept(orKeep: DictionaryPreferences()) })

  /// Exchanges without a look at the old value.
  private static let exchanging = FaultyStore(
    25, StoreUnderTest("25: exchanges whatever the value is") { _ in BlindPreferences() })
}

private final class BlindPreferences: PreferencesStore {
  let name = "blind"
  private let values = DictionaryPreferences()

  func value(for query: PreferenceQuery) -> PreferenceValue? { values.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { values.names(of: secrecy) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let blind = edits.edits.map { PreferenceEdits.Edit($0.name, to: $0.content) }
    return try values.apply(PreferenceEdits(blind, clearing: edits.clears))
  }
}

/// A store that keeps a copy of a file, and replaces the file by it.
private final class OverwritingPreferences: PreferencesStore {
  let name = "overwriting"
  let file: DictionaryPreferences
  private let copy: DictionaryPreferences

  init(_ file: DictionaryPreferences) {
    self.file = file
    copy = DictionaryPreferences(Dictionary(uniqueKeysWithValues: file.map { ($0.key, $0.value) }))
  }

  func value(for query: PreferenceQuery) -> PreferenceValue? { copy.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { copy.names(of: secrecy) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let outcome = try copy.apply(edits)
    try file.removeAll()
    for (key, value) in copy { try file.set(value, forKey: key) }
    return outcome
  }
}
