#if PostgreSQL
  internal import VaultCore

  /// What a statement has found, compared with what was known.
  enum FoundBytes {
    case absent
    case unchanged
    /// The same version, and what was known is its beginning. `bytes` follow.
    case grown(VaultRow, bytes: [UInt8])
    /// Something else, of which `bytes` are all, or `nil` if they were not read.
    case other(VaultRow, bytes: [UInt8]?)

    /// The result of ``Statement/changes(_:since:limit:)``.
    init(_ rows: Rows, since known: VaultRow?, limit: Int) throws(VaultError) {
      guard let row = try VaultRow(rows) else {
        self = .absent
        return
      }
      if row == known {
        self = .unchanged
        return
      }
      self = .other(row, bytes: nil)
      guard let known, row.version == known.version, known.length <= row.length, row.length <= limit else { return }
      let bytes = try row.joined(rows, from: known.length - known.tail.count)
      guard bytes.starts(with: known.tail) else { return }
      self = .grown(row, bytes: Array(bytes.dropFirst(known.tail.count)))
    }

    /// The result of ``Statement/load(_:limit:)``, or of a creation.
    init(loaded rows: Rows, limit: Int) throws(VaultError) {
      guard let row = try VaultRow(rows) else {
        self = .absent
        return
      }
      self = .other(row, bytes: row.length <= limit ? try row.joined(rows, from: 0) : nil)
    }
  }
#endif
