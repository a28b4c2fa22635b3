import Synchronization
@_exported import PreferencesTestSupport

/// Signals one task that another has done something.
final class Flag: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .acquiring) }
  func set() { state.store(true, ordering: .releasing) }
}
