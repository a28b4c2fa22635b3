extension Vault {
  /// The progress of a verification or rotation; see ``Options/progress``.
  public struct Progress: Sendable {
    /// The number of records that are done, at most ``total``.
    public let done: Int
    /// The number of records in all access groups concerned.
    public let total: Int
  }
}

/// Counts records and reports the progress at intervals.
final class ProgressCounter {
  // Reporting must cost little compared with sealing or opening a record.
  private static let step = 1000

  private let report: @Sendable (Vault.Progress) -> Void
  private let total: Int
  private var done = 0

  /// `nil` if ``Vault/Options/progress`` is `nil`.
  init?(_ options: Vault.Options, total: Int) {
    guard let report = options.progress else { return nil }
    self.report = report
    self.total = total
  }

  /// Counts one more record.
  func advance() {
    done += 1
    if done % Self.step == 0 || done == total { report(Vault.Progress(done: done, total: total)) }
  }
}
