public import Preferences
public import Testing

/// A kind of store that the conformance rules are tried on: how an empty one is made, and how its values are opened again.
///
/// ```swift
/// @Test(arguments: ConformanceRule.all)
/// func `our store conforms`(rule: ConformanceRule) async throws {
///   try await rule.check(StoreUnderTest("database") { fixture in
///     try DatabasePreferences(at: fixture.folder + "/db")
///   })
/// }
/// ```
public struct StoreUnderTest: Sendable, CustomTestStringConvertible {
  /// Makes an empty store that shares nothing with any other.
  public typealias Making = @Sendable (StoreFixture) throws -> any PreferencesStore
  /// Makes a store over the same values, as a new process would.
  public typealias Reopening = @Sendable (any PreferencesStore, StoreFixture) throws -> any PreferencesStore

  /// What a failure calls it.
  public let name: String
  let make: Making
  let reopen: Reopening

  /// - Parameters:
  ///   - reopen: how a store is opened once more over the values of another; nil for stores that end with their object.
  ///   - make: makes an empty store; called for each that a rule needs.
  public init(_ name: String, reopening reopen: Reopening? = nil, make: @escaping Making) {
    (self.name, self.make, self.reopen) = (name, make, reopen ?? { store, _ in store })
  }

  public var testDescription: String { name }
}
