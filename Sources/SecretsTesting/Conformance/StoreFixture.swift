internal import FoundationEssentials
public import Preferences
internal import Synchronization

/// The stores that one check of one rule makes, and the objects that the stores need during the check.
public final class StoreFixture: Sendable {
  private let store: StoreUnderTest
  private let kept = Mutex<[any Sendable]>([])
  private let directory: ThrowawayDirectory
  /// An empty folder for this check only, removed after the check. It is in the folder that the environment variable
  /// `SECRETS_TESTING_FOLDER` names, or else in memory-backed storage if there is any.
  public var folder: String { directory.path }

  init(_ store: StoreUnderTest) throws {
    self.store = store
    directory = try ThrowawayDirectory()
  }

  /// The longest name of a value in these stores, in bytes of UTF-8.
  public var longestName: Int { store.longestName }
  var noticeLimit: Duration { store.noticeLimit }

  /// Returns a name that this check has not used yet, for stores that are distinguished by name.
  public func uniqueName() -> String { UUID().uuidString }

  /// Keeps `object` alive until the check has ended, for example a server or a throwaway vault.
  public func keep(_ object: some Sendable) { kept.withLock { $0.append(object) } }

  /// Returns the first kept object of a type. If there is none, keeps and returns the result of `make`. Use it for an
  /// object that several stores of one check share, such as a vault.
  public func kept<Object: Sendable>(orKeep make: @autoclosure () throws -> Object) rethrows -> Object {
    if let object = kept.withLock({ $0.lazy.compactMap { $0 as? Object }.first }) { return object }
    // Made without holding the lock; a concurrent call may have kept an object first.
    let made = try make()
    return kept.withLock { kept in
      if let object = kept.lazy.compactMap({ $0 as? Object }).first { return object }
      kept.append(made)
      return made
    }
  }

  /// Makes an empty store that shares nothing with any other store.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` if the kind can only be read.
  public func makeStore() throws -> any PreferencesStore {
    guard let make = store.make else { throw PreferencesError(.noStore, "\(store.name) can only be read") }
    return try make(self)
  }

  /// Makes a reader that has these values, or these values as text. For a kind of store, writes the values to a new
  /// store.
  /// - Throws: The error of the closure of the kind, or of the write.
  public func makeReader(_ values: [String: PreferenceValue]) async throws -> any PreferencesReader {
    try await store.read(self, values)
  }

  /// Opens the values of `store` again, as a new process would. Returns the same object if the values end with the
  /// object.
  public func reopened(_ store: any PreferencesStore) throws -> any PreferencesStore {
    try self.store.reopen(store, self)
  }

  /// Makes the values of `store` unreadable, if the kind can be damaged.
  /// - Throws: The error of the closure of the kind.
  public func damage(_ store: any PreferencesStore) throws { try self.store.damage?(store, self) }
}
