/// The result of a load.
public enum RemoteOutcome: Sendable, Hashable {
  /// The server sent values, which are used from now on.
  case updated
  /// The values did not change: the server reported no change, or a load that started later finished first.
  case notModified
}
