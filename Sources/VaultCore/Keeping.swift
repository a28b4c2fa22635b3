extension Vault {
  /// What writes keep of the values that they replace and remove, so that a mistake can be undone.
  ///
  /// What is kept is sealed like every other value, and opens with the same credentials. A program that stores secrets
  /// for others should keep ``nothing``: a value that is replaced or removed is then gone with the next fold. Where a
  /// person writes, ``forPeople`` is a good choice.
  public struct Keeping: Sendable, Hashable {
    /// The number of earlier values that a new value gives a record whose history depth was never set. A depth that was
    /// set, also 0, is not changed.
    public var earlierValues: UInt16
    /// How long a removed record can be restored: see ``Vault/removedRecords(service:in:)``. With `nil` it is gone at
    /// once. Afterwards a write to its access group drops it, so a clock that is ahead can drop it early.
    public var removedRecords: Duration?

    /// Creates a setting.
    public init(earlierValues: UInt16 = 0, removedRecords: Duration? = nil) {
      self.earlierValues = earlierValues
      self.removedRecords = removedRecords
    }

    /// Keeps nothing that was not asked for: the default.
    public static let nothing = Keeping()
    /// Keeps three earlier values, and removed records for 30 days, as the tool does.
    public static let forPeople = Keeping(earlierValues: 3, removedRecords: .seconds(30 * 24 * 60 * 60))

    var defaultDepth: UInt16? { earlierValues > 0 ? earlierValues : nil }
  }
}

extension Duration {
  /// Whole milliseconds, at most those of an `Int64`.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    return overflows ? .max : whole &+ attoseconds / 1_000_000_000_000_000
  }
}
