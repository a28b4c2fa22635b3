import Preferences
@_exported import PreferencesTestSupport

/// A layer that cannot answer, such as a locked vault; its error's text holds the sentinel.
struct FailingPreferences: PreferencesStore {
  struct Locked: Error, CustomStringConvertible {
    var description: String { "locked, by the way: \(sentinel)" }
  }

  var name = "vault com.example.shop/default"
  var isSealed: Bool { true }
  var error: any Error = Locked()

  func value(forKey key: String) throws -> PreferenceValue? { throw error }
  func keys() throws -> [String] { throw error }
  func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome { throw error }
  func removeValue(forKey key: String) throws -> WriteOutcome { throw error }
  func removeAll() throws { throw error }
}

/// A layer with one value that cannot be written.
struct FixedPreferences: PreferencesReader {
  var name = "fixed"
  var content: [String: PreferenceValue] = [:]

  func value(forKey key: String) throws -> PreferenceValue? { content[key] }
  func keys() throws -> [String] { content.keys.sorted() }
}

/// A store in memory whose values count as sealed.
final class SealedPreferences: PreferencesStore {
  let base = DictionaryPreferences()

  var name: String { "sealed" }
  var isSealed: Bool { true }
  func value(forKey key: String) throws -> PreferenceValue? { try base.value(forKey: key) }
  func keys() throws -> [String] { base.keys() }
  @discardableResult
  func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome { try base.set(value, forKey: key) }
  @discardableResult
  func removeValue(forKey key: String) throws -> WriteOutcome { try base.removeValue(forKey: key) }
  func removeAll() throws { base.removeAll() }
  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }
}
