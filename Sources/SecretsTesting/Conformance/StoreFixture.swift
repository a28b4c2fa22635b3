internal import FoundationEssentials
public import Preferences
internal import Synchronization

/// What one check of one rule makes: its stores, and what they need for as long as it runs.
public final class StoreFixture: Sendable {
  private let store: StoreUnderTest
  private let kept = Mutex<[any Sendable]>([])
  /// An empty folder of this check's own, removed behind it.
  public let folder: String

  init(_ store: StoreUnderTest) throws {
    self.store = store
    let url = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    folder = url.path
  }

  deinit {
    // What is left of a failed check is only clutter.
    do { try FileManager.default.removeItem(atPath: folder) } catch {}
  }

  /// The longest name of a value in these stores, in bytes of UTF-8.
  public var longestName: Int { store.longestName }

  /// A name that this check has not given yet, for stores that are told apart by names.
  public func uniqueName() -> String { UUID().uuidString }

  /// Keeps `object` until the check has ended: a server, a throwaway vault.
  public func keep(_ object: some Sendable) { kept.withLock { $0.append(object) } }

  /// The object of a type that was kept first; what `make` returns is kept when there is none. For what several stores of
  /// one check lie in side by side, such as a vault.
  public func kept<Object: Sendable>(orKeep make: @autoclosure () throws -> Object) rethrows -> Object {
    if let object = kept.withLock({ $0.lazy.compactMap { $0 as? Object }.first }) { return object }
    // Made with no lock held; another may have come first.
    let made = try make()
    return kept.withLock { kept in
      if let object = kept.lazy.compactMap({ $0 as? Object }).first { return object }
      kept.append(made)
      return made
    }
  }

  /// An empty store that shares nothing with any other.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` for what can only be read.
  public func makeStore() throws -> any PreferencesStore {
    guard let make = store.make else { throw PreferencesError(.noStore, "\(store.name) can only be read") }
    return try make(self)
  }

  /// A reader that has these values, or their texts; of a store, one that they were written to.
  public func makeReader(_ values: [String: PreferenceValue]) throws -> any PreferencesReader {
    try store.read(self, values)
  }

  /// A store over the values of `store`, as a new process would open it; the same object where the values end with it.
  public func reopened(_ store: any PreferencesStore) throws -> any PreferencesStore {
    try self.store.reopen(store, self)
  }

  /// Makes the values of `store` unreadable.
  ///
  /// - Returns: false when they cannot be.
  public func damage(_ store: any PreferencesStore) throws -> Bool {
    try self.store.damage?(store, self) != nil
  }
}
