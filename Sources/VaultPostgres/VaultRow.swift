#if PostgreSQL
  internal import VaultCore

  /// A vault's row: which bytes it has.
  struct VaultRow: Sendable, Hashable {
    /// Rises with each replacement.
    var version: Int
    var length: Int
    /// The last 32 bytes; all of them if there are fewer.
    var tail: [UInt8]

    static let tailCount = 32
    /// More bytes than any vault has, so that sums of positions fit a number.
    private static let longest = 1 << 48

    init(version: Int, length: Int, tail: [UInt8]) {
      self.version = version
      self.length = length
      self.tail = tail
    }

    /// The row of new bytes.
    init(version: Int, _ bytes: [UInt8]) {
      self.init(version: version, length: bytes.count, tail: Array(bytes.suffix(Self.tailCount)))
    }

    /// The row after `entry` was put behind a position.
    func appended(_ entry: [UInt8], at position: StoragePosition) -> VaultRow {
      VaultRow(
        version: version, length: position.offset + entry.count,
        tail: Array((position.lastBytes + entry).suffix(Self.tailCount)))
    }

    /// The first three columns of a result; `nil` if the vault has no row.
    init?(_ rows: Rows) throws(VaultError) {
      if rows.isNull(0, 0) { return nil }
      version = try rows.number(0, 0)
      length = try rows.number(0, 1)
      tail = try rows.bytes(0, 2)
      guard version >= 0, (0...Self.longest).contains(length),
        tail.count == min(length, Self.tailCount)
      else { throw Self.broken }
    }

    /// The pieces of a result, joined.
    ///
    /// - Parameter start: where the first one must begin.
    /// - Throws: ``VaultError/Code/damaged`` if they do not fit together, or do not end as the row says.
    func joined(_ rows: Rows, from start: Int) throws(VaultError) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(max(0, min(length - start, 1 << 30)))
      for number in 0..<rows.count where !rows.isNull(number, 3) {
        guard try rows.number(number, 3) == start + bytes.count else { throw Self.broken }
        bytes += try rows.bytes(number, 4)
        guard start + bytes.count <= length else { throw Self.broken }
      }
      guard start + bytes.count == length, bytes.count < Self.tailCount || bytes.suffix(Self.tailCount) == tail[...]
      else { throw Self.broken }
      return bytes
    }

    static var broken: VaultError {
      VaultError(
        .damaged,
        "the rows of the vault in the database do not fit together: restore a backup of the database or of the "
          + "vault")
    }
  }
#endif
