/// What a storage has done since the object was created (not since the vault was), for metrics. The numbers only grow.
public struct StorageActivity: Sendable, Hashable {
  /// Changes of the vault that were stored.
  public var writes: UInt64
  /// Requests that were sent again, or settled by looking, because their answer was lost.
  public var retries: UInt64
  /// Connections that were made in place of one that was lost.
  public var reconnects: UInt64

  /// Creates counts; zero where none is given.
  public init(writes: UInt64 = 0, retries: UInt64 = 0, reconnects: UInt64 = 0) {
    self.writes = writes
    self.retries = retries
    self.reconnects = reconnects
  }
}
