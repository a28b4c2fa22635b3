import Observation
import Synchronization

/// What a wrapper reads, told to whoever tracks it: `withObservationTracking` and `Observations`.
///
/// It has a registrar of its own, so the object around a wrapper need not take part: inside an `@Observable` class the
/// property is marked `@ObservationIgnored` and tracked all the same.
final class TrackedPreference<Value: Sendable>: Observable, Sendable {
  let reader: any PreferencesReader
  let key: PreferenceKey<Value>
  private let registrar = ObservationRegistrar()
  private let observation = Mutex<PreferenceObservation?>(nil)

  init(_ reader: any PreferencesReader, _ key: PreferenceKey<Value>) { (self.reader, self.key) = (reader, key) }

  var value: Value {
    watch()
    registrar.access(self, keyPath: \.value)
    return reader[key]
  }

  /// Nothing is watched before the first read: a wrapper that nobody reads costs nothing.
  private func watch() {
    guard observation.withLock({ $0 == nil }) else { return }
    // Not `observe` with the key, which keeps the last value: it may be a secret.
    let watch = Watch<Void> { [reader, key] in
      var hasher = Hasher()
      let content = try reader.content(for: try key.query()) ?? key.content(of: key.defaultValue)
      content?.hash(into: &hasher)
      return (hasher.finalize(), ())
    } fail: { [reader, key] in
      PreferenceFailures.report($0, key: key.name, reader: reader.name)
    } deliver: { [weak self] _, isFirst in
      guard let self, !isFirst else { return }
      registrar.withMutation(of: self, keyPath: \.value) {}
    }
    let new = reader.observe { [key] change in if change.concerns(key.name) { watch.look() } }
    watch.begin()
    // Of two threads that come here at once one keeps its observation, and that of the other ends.
    observation.withLock { $0 = $0 ?? new }
  }
}
