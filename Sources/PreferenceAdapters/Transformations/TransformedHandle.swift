public import Preferences

extension Preference {
  /// A handle for what `transformation` makes of the value, both when it is read and when it is written.
  ///
  /// What stands in for nil here, and who is told of changes, is not carried over.
  public func transformed<Other>(
    by transformation: some PreferenceTransformation<Value, Other>
  ) -> Preference<Other> {
    store.preference(for: key.transformed(by: transformation))
  }
}
