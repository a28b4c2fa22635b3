public import Preferences

extension Preference {
  /// A handle that applies `transformation` to the value when reading and writing.
  ///
  /// What `whenNil(use:)`, `ensure(when:use:)` and `onChange(_:)` added to this handle does not apply to the new
  /// handle.
  public func transformed<Other>(
    by transformation: some PreferenceTransformation<Value, Other>
  ) -> Preference<Other> {
    store.preference(for: key.transformed(by: transformation))
  }
}
