internal import VaultCore

/// How long before its expiry a value is due for renewal.
struct ExpiryRule {
  /// Two weeks, if nothing else is said: as an option has it, and in words.
  static let usual = "14d"
  static let usualText = "14 days"

  /// The time in words, and as an option has it.
  let text: String
  let option: String
  /// In milliseconds.
  private let time: Int64

  /// - Parameter option: The duration of an option; `nil` for the usual one.
  init(_ option: String? = nil) throws(ToolError) {
    text = option ?? Self.usualText
    self.option = option ?? Self.usual
    time = try Expiry.duration(self.option)
  }

  /// Whether the value has not expired, and will within the time.
  func isDue(_ record: RecordInfo, at now: Int64) -> Bool {
    !record.isExpired(at: now) && record.isExpired(at: now + time)
  }

  func isDueOrExpired(_ record: RecordInfo, at now: Int64) -> Bool { record.isExpired(at: now + time) }
}
