import Observation
import Synchronization

/// The value of a wrapper, observable with `withObservationTracking` and `Observations`.
///
/// It has its own registrar, independent of the enclosing object: in an `@Observable` class the property is marked
/// `@ObservationIgnored` and is still tracked.
final class TrackedPreference<Value: Sendable>: Observable, Sendable {
  let reader: any PreferencesReader
  let key: PreferenceKey<Value>
  private let registrar = ObservationRegistrar()
  private let observation = Mutex<PreferenceObservation?>(nil)

  init(_ reader: any PreferencesReader, _ key: PreferenceKey<Value>) {
    self.reader = reader
    self.key = key
  }

  var value: Value {
    access()
    return reader[key]
  }

  /// Makes the code that is being tracked depend on the value.
  func access() {
    watch()
    registrar.access(self, keyPath: \.value)
  }

  /// Observation begins with the first read, so that an unread wrapper costs nothing.
  private func watch() {
    guard observation.withLock({ $0 == nil }) else { return }
    let new = reader.observe(changesOf: key) { [weak self] in
      guard let self else { return }
      registrar.withMutation(of: self, keyPath: \.value) {}
    }
    // If two threads get here at once, the second observation ends.
    observation.withLock { $0 = $0 ?? new }
  }
}
