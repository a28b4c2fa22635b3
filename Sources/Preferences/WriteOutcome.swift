/// The outcome of a write.
public enum WriteOutcome: Sendable, Hashable {
  /// The write is done, and no layer above hides it. After a removal, lookups may return the value of a layer below.
  case visible
  /// The write is done, but lookups still return the value of the named layer above.
  case shadowed(by: String)
  /// Nothing was written: a condition of ``PreferenceEdits`` does not hold.
  case conflict
}
