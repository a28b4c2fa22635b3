/// What a load has brought.
public enum RemoteOutcome: Sendable, Hashable {
  /// The server sent values, and these are they now.
  case updated
  /// The server said that nothing has changed, or a load that began later was done first: what was there still is.
  case notModified
}
