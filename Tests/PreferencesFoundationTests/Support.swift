import Synchronization
@_exported import PreferencesTestSupport

/// Tells one task what another has done.
final class Flag: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .acquiring) }
  func set() { state.store(true, ordering: .releasing) }
}
