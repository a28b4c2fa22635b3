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

  /// A name that this check has not given yet, for stores that are told apart by names.
  public func uniqueName() -> String { UUID().uuidString }

  /// Keeps `object` until the check has ended: a server, a throwaway vault.
  public func keep(_ object: some Sendable) { kept.withLock { $0.append(object) } }

  /// An empty store that shares nothing with any other.
  public func makeStore() throws -> any PreferencesStore { try store.make(self) }

  /// A store over the values of `store`, as a new process would open it; the same object where the values end with it.
  public func reopened(_ store: any PreferencesStore) throws -> any PreferencesStore {
    try self.store.reopen(store, self)
  }
}
