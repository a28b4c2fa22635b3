/// What a write has come to.
public enum WriteOutcome: Sendable, Hashable {
  /// Lookups answer from the written layer or, after a removal, from below it.
  case visible
  /// The write is done, but the named layer above holds the key too and lookups still answer from there.
  case shadowed(by: String)
  /// Nothing was written: a condition of ``PreferenceEdits`` does not hold.
  case conflict
}
