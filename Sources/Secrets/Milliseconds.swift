internal import FoundationEssentials

extension Date {
  init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// The nearest millisecond since 1970-01-01 UTC, limited to the integers that a `Double` represents exactly.
  var milliseconds: Int64 { Int64(limiting: (timeIntervalSince1970 * 1000).rounded()) }
}

extension Int64 {
  /// `number` rounded down, limited to the integers that a `Double` represents exactly.
  init(limiting number: Double) {
    let limit = Double(1 << 53)
    self.init(number.isNaN ? 0 : Swift.max(-limit, Swift.min(limit, number.rounded(.down))))
  }
}
