extension Vault {
  /// How far long work has come; see ``Options/progress``.
  public struct Progress: Sendable {
    /// Records that are done; at most ``total``.
    public let done: Int
    /// Records of all access groups that the work goes through.
    public let total: Int
  }
}

/// Counts records and tells, now and then, how many are done.
final class ProgressCounter {
  // Telling must cost nothing beside sealing or opening a record.
  private static let step = 1000

  private let tell: @Sendable (Vault.Progress) -> Void
  private let total: Int
  private var done = 0

  /// Nil when nobody wants to be told.
  init?(_ options: Vault.Options, total: Int) {
    guard let tell = options.progress else { return nil }
    (self.tell, self.total) = (tell, total)
  }

  /// One more record is done.
  func advance() {
    done += 1
    if done % Self.step == 0 || done == total { tell(Vault.Progress(done: done, total: total)) }
  }
}
