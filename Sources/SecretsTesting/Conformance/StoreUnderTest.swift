public import Preferences
public import Testing

/// A kind of store to check against the conformance rules: how to make an empty store, and how to open its values
/// again.
///
/// ```swift
/// let database = StoreUnderTest("database") { fixture in
///   try DatabasePreferences(at: fixture.folder + "/" + fixture.uniqueName())
/// }
///
/// @Test(.timeLimit(.minutes(1)), arguments: ConformanceRule.all.filter { $0.applies(to: database) })
/// func `our store conforms`(rule: ConformanceRule) async { await rule.check(database) }
/// ```
///
/// Without the filter, rules that do not apply to the store, such as rules for secrets to a plain store, are printed
/// and count as passed.
public struct StoreUnderTest: Sendable, CustomTestStringConvertible {
  /// Makes an empty store that shares nothing with any other.
  public typealias Making = @Sendable (StoreFixture) throws -> any PreferencesStore
  /// Makes a store over the same values, as a new process would. Unsaved changes are saved first. If saving fails, they
  /// are discarded and the failure is thrown.
  public typealias Reopening = @Sendable (any PreferencesStore, StoreFixture) throws -> any PreferencesStore
  /// Damages the storage of the values, so that they can no longer be read.
  public typealias Damaging = @Sendable (any PreferencesStore, StoreFixture) throws -> Void
  /// Makes a reader that has these values, or these values as text.
  public typealias Reading = @Sendable (StoreFixture, [String: PreferenceValue]) async throws -> any PreferencesReader

  /// The name of the kind in failures.
  public let name: String
  /// The longest time after which a store that has a value must have notified its observers of it, if another store
  /// over the same values or several tasks at once have written: 10 seconds unless it is set. A store that asks a
  /// server each minute needs more.
  public var noticeLimit = Duration.seconds(10)
  /// The longest name of a value, in bytes of UTF-8.
  let longestName: Int
  let make: Making?
  let reopen: Reopening
  let damage: Damaging?
  let read: Reading
  /// Whether all values are texts, which are parsed when they are read.
  let isText: Bool
  private let foundCustody = Collected<Custody>()

  /// Creates a kind of store that can be read and written.
  ///
  /// - Parameters:
  ///   - reopen: opens the values of a store again; `nil` for stores whose values end with the object.
  ///   - damage: makes the values of a store unreadable; `nil` for stores that cannot be damaged, such as memory.
  ///   - longestName: the longest name of a value, in bytes. A view allows less than the rule for names, because the
  ///     names underneath are longer.
  ///   - make: makes an empty store; called for each store that a rule needs.
  public init(
    _ name: String, reopening reopen: Reopening? = nil, damaging damage: Damaging? = nil,
    longestName: Int = PreferenceName.maximumByteCount, make: @escaping Making
  ) {
    self.name = name
    self.longestName = longestName
    isText = false
    self.make = make
    self.reopen = reopen ?? { store, _ in store }
    self.damage = damage
    read = { fixture, values in
      let store = try make(fixture)
      try await store.set(values)
      return store
    }
  }

  /// Creates a kind of reader that cannot be written. Only the rules for readers are checked.
  ///
  /// - Parameters:
  ///   - isText: whether all values are texts, as in the environment, so that there are no lists or dictionaries.
  ///   - read: makes a reader over values whose names are lowercase letters; a reader of texts writes the values as
  ///     ``EnvironmentPreferences`` reads them.
  public init(_ name: String, isText: Bool = false, reading read: @escaping Reading) {
    self.name = name
    self.isText = isText
    self.read = read
    longestName = PreferenceName.maximumByteCount
    make = nil
    reopen = { store, _ in store }
    damage = nil
  }

  /// Whether the kind cannot be written.
  public var isReadOnly: Bool { make == nil }

  /// The custody of every store of this kind. Makes one store to find out.
  func custody() throws -> Custody {
    if let custody = foundCustody.all.first { return custody }
    let fixture = try StoreFixture(self)
    let custody = try withExtendedLifetime(fixture) { try fixture.makeStore().custody }
    foundCustody.append(custody)
    return custody
  }

  public var testDescription: String { name }
}
