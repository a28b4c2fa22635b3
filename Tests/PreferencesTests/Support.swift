import Preferences
@_exported import PreferencesTestSupport

/// A layer whose lookups fail, such as a locked vault; the text of its error contains the sentinel.
struct FailingPreferences: PreferencesStore {
  struct Locked: Error, CustomStringConvertible {
    var description: String { "locked, by the way: \(sentinel)" }
  }

  var name = "vault com.example.shop/default"
  var custody = Custody.sealed
  var error: any Error = Locked()

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { throw error }
  func names(of secrecy: Secrecy) throws -> [PreferenceName] { throw error }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { throw error }
}

/// A layer with one value that cannot be written.
struct FixedPreferences: PreferencesReader {
  var name = "fixed"
  var content: [String: PreferenceValue] = [:]

  func value(for query: PreferenceQuery) -> PreferenceValue? { content[query.name.text] }
  func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(content.keys.sorted()) }
}

/// A store in memory whose values count as sealed.
final class SealedPreferences: PreferencesStore {
  let base = DictionaryPreferences()

  var name: String { "sealed" }
  var custody: Custody { .sealed }
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  @discardableResult
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try base.apply(edits) }
  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }
}

extension PreferencesStore {
  /// Stores or, with nil, removes a secret.
  func setSecret(_ value: PreferenceValue?, forKey key: String) throws {
    let content = value.map(PreferenceContent.value)
    try edit(PreferenceEdits([.init(PreferenceName(key), to: content, secrecy: .secret)]))
  }
}

extension PreferencesReader {
  /// The secret under `key`.
  func secretValue(forKey key: String) throws -> PreferenceValue? { try lookUp(PreferenceQuery(key, secrecy: .secret)) }
}
