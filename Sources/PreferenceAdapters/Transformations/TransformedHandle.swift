public import PreferenceOperators
import Preferences

extension Preference {
  /// A handle that applies `transformation` to the value when reading and writing.
  ///
  /// The new handle does not take over this handle's replacement for `nil` or its change callback.
  public func transformed<Other>(
    by transformation: some PreferenceTransformation<Value, Other>
  ) -> Preference<Other> {
    store.preference(for: key.transformed(by: transformation))
  }
}
