public import Preferences

/// The shared store of the registry. Each call uses the store that is shared at that time.
///
/// Its `custody` is the custody of the shared store. As a layer of a composite, it keeps the custody that it has when
/// the composite is created; see `Custody.replaceable`.
///
/// The registry is that of the surrounding `PreferencesRegistry.with`. On a thread outside it, such as one that
/// notifies of a changed file, it is the registry in which the view was created.
public struct SharedPreferences: PreferencesStore, GuardingReader {
  private let scope: PreferencesRegistry?

  /// Creates a view of the shared store.
  public init() { scope = PreferencesRegistry.scoped }

  private var registry: PreferencesRegistry { PreferencesRegistry.scoped ?? scope ?? .current }
  var store: any PreferencesStore { registry.shared }

  public var name: String { store.name }
  public var custody: Custody { store.custody.replaceable }

  public func value(for query: PreferenceQuery) throws -> PreferenceValue? { try store.lookUp(query) }

  public func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)? { try store.guardedLookUp(query) }

  public func names(of secrecy: Secrecy) throws -> [PreferenceName] {
    let store = store
    return store.custody.holds(secrecy) ? try store.names(of: secrecy) : []
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    registry.observeShared(notify)
  }

  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try store.edit(edits) }

  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome { try await store.edit(edits) }
}

extension SharedPreferences: Identifiable {
  public var id: StoreIdentity { store.identity }
}

extension SharedPreferences: CustomStringConvertible, CustomReflectable {}
