import FoundationEssentials

extension LayerLaw {
  /// How many times as many random stacks a run tries: the number in `SOAK`, else 1.
  package static let soakFactor = ProcessInfo.processInfo.environment["SOAK"].flatMap { UInt64($0) } ?? 1
}
