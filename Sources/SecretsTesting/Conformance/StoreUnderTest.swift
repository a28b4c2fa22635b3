public import Preferences
public import Testing

/// A kind of store that the conformance rules are tried on: how an empty one is made, and how its values are opened again.
///
/// ```swift
/// @Test(arguments: ConformanceRule.all)
/// func `our store conforms`(rule: ConformanceRule) async {
///   await rule.check(StoreUnderTest("database") { fixture in
///     try DatabasePreferences(at: fixture.folder + "/db")
///   })
/// }
/// ```
public struct StoreUnderTest: Sendable, CustomTestStringConvertible {
  /// Makes an empty store that shares nothing with any other.
  public typealias Making = @Sendable (StoreFixture) throws -> any PreferencesStore
  /// Makes a store over the same values, as a new process would. What waits to be saved is saved first; when that fails, it
  /// is given up, and the failure thrown.
  public typealias Reopening = @Sendable (any PreferencesStore, StoreFixture) throws -> any PreferencesStore
  /// Spoils what the values are kept in, so that nobody can read them any more.
  public typealias Damaging = @Sendable (any PreferencesStore, StoreFixture) throws -> Void
  /// Makes a reader that has these values, or their texts.
  public typealias Reading = @Sendable (StoreFixture, [String: PreferenceValue]) throws -> any PreferencesReader

  /// What a failure calls it.
  public let name: String
  /// The longest name of a value, in bytes of UTF-8.
  let longestName: Int
  let make: Making?
  let reopen: Reopening
  let damage: Damaging?
  let read: Reading

  /// A store.
  ///
  /// - Parameters:
  ///   - reopen: how a store is opened once more over the values of another; nil for stores that end with their object.
  ///   - damage: how its values are made unreadable; nil for what cannot be damaged, such as memory.
  ///   - longestName: the longest name of a value, in bytes; less than the rule for names allows in a view, which has
  ///     longer ones underneath.
  ///   - make: makes an empty store; called for each that a rule needs.
  public init(
    _ name: String, reopening reopen: Reopening? = nil, damaging damage: Damaging? = nil,
    longestName: Int = PreferenceKeyName.maximumByteCount, make: @escaping Making
  ) {
    (self.name, self.longestName) = (name, longestName)
    (self.make, self.reopen, self.damage) = (make, reopen ?? { store, _ in store }, damage)
    read = { fixture, values in
      let store = try make(fixture)
      try store.set(values)
      return store
    }
  }

  /// Something that can only be read: the rules for readers are tried on it, and the others pass it by.
  ///
  /// - Parameter read: makes a reader over values under names of small letters; a reader of texts writes them as
  ///   ``EnvironmentPreferences`` reads them.
  public init(_ name: String, reading read: @escaping Reading) {
    (self.name, self.read, longestName) = (name, read, PreferenceKeyName.maximumByteCount)
    (make, reopen, damage) = (nil, { store, _ in store }, nil)
  }

  /// Whether it cannot be written to.
  public var isReadOnly: Bool { make == nil }

  public var testDescription: String { name }
}
