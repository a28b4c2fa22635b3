/// Which log it is, and the keys that a reader has for it.
struct LogPlace {
  let vaultID: Bytes
  let group: Bytes
  /// That of the section.
  let epoch: UInt32
  let keys: [UInt32: Bytes]

  static let epochs: ClosedRange<UInt32> = 1...(1 << 31 - 1)
  static let numbers: ClosedRange<UInt64> = 1...(1 << 50 - 1)

  func stateContext() -> [Bytes] { [Bytes("log-state"), vaultID, group] }
  func eventContext(_ number: UInt64) -> [Bytes] { [Bytes("log-event"), vaultID, group, .integer(number)] }
}
