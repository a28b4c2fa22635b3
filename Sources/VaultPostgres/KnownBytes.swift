#if PostgreSQL
  internal import VaultCore

  /// What this process knows of the vault in the database, so that reads need not ask.
  ///
  /// A window of the newest bytes is kept: those that some load of the vault has not read yet, and 32 before them. If
  /// there is another version, all of its bytes are kept until each load has been replaced by one of the new version.
  ///
  ///     loads      ├──── version 7, read up to 900 ────┤
  ///     row        version 7, length 1,100
  ///     window                                  868 ├──┼──────┤ 1,100
  struct KnownBytes {
    private struct Load { weak var version: PostgresVersion? }

    /// `nil` if the database has no vault, or was not asked yet.
    private(set) var row: VaultRow?
    private(set) var isAsked = false
    /// The history of the server on which the row was found last; `nil` if no server has said one.
    private var history: ServerHistory?
    /// The bytes before the end of the row.
    private var window: [UInt8] = []
    /// Whether the window is the whole vault, for loads of an older version.
    private var isWhole = false
    /// When the database was asked for what is known. Once a primary has answered, only primaries confirm.
    private(set) var confirmed: ContinuousClock.Instant?
    /// Whether a primary has answered. A replica cannot tell how far it is behind one.
    private(set) var hasPrimary = false
    /// Rises with each change of the row. What was asked before is then not taken over.
    private(set) var serial = 0
    /// The greatest length that a caller accepts.
    var limit = 0
    private var loads: [Load] = []

    private var start: Int { (row?.length ?? 0) - window.count }

    // MARK: Reading

    enum Answer {
      case changes(StorageChanges)
      /// The bytes are longer than the limit.
      case tooLong
      /// Only the database knows.
      case unknown
    }

    mutating func changes(since position: StoragePosition, limit: Int) -> Answer {
      guard isAsked else { return .unknown }
      guard let row else { return .changes(.removed) }
      guard let version = position.version as? PostgresVersion, version.number == row.version,
        position.offset <= row.length
      else { return replaced(by: row, limit: limit) }
      guard position.offset > 0 else {
        guard isWhole else { return .unknown }
        return row.length <= limit ? .changes(.added(StoredBytes(window))) : .tooLong
      }
      version.reach(position.offset)
      let end = position.offset - start
      guard position.offset >= VaultRow.tailCount, position.offset < row.length || end >= VaultRow.tailCount else {
        return replaced(by: row, limit: limit)
      }
      guard end >= VaultRow.tailCount else { return row.length <= limit ? .unknown : .tooLong }
      guard window[(end - VaultRow.tailCount)..<end] == position.lastBytes[...] else {
        return replaced(by: row, limit: limit)
      }
      if position.offset == row.length { return .changes(.none) }
      return row.length <= limit ? .changes(.added(StoredBytes(Array(window[end...])))) : .tooLong
    }

    /// With everything, if that was laid ready: a read must not wait.
    private mutating func replaced(by row: VaultRow, limit: Int) -> Answer {
      guard isWhole, row.length <= limit else { return .changes(.replaced(nil)) }
      return .changes(.replaced(StoredVault(version: version(of: row), bytes: StoredBytes(window))))
    }

    /// A version for a load that has read the whole row.
    mutating func version(of row: VaultRow) -> PostgresVersion {
      loads.removeAll { $0.version == nil }
      let version = PostgresVersion(row.version, reached: row.length)
      loads.append(Load(version: version))
      return version
    }

    /// Whether a load has to be replaced by one of this version.
    func isStale(_ number: Int) -> Bool {
      loads.contains { load in load.version.map { $0.number != number } ?? false }
    }

    // MARK: Taking over

    /// Compares what was found with what is known, before it is taken over. If the database goes on from an earlier
    /// state, the loads learn that what they have read may be lost.
    ///
    /// - Parameter server: the history on which it was found; `nil` if the server does not say it, as a replica.
    mutating func compare(_ found: FoundBytes, on server: ServerHistory?) {
      if case .other(let new, let bytes) = found, let row, isEarlier(new, bytes, than: row, on: server) {
        for load in loads { load.version?.lose() }
      }
      history = server ?? history
    }

    /// Whether a row that does not continue the known one is, or may be, of an earlier state: a version only grows, and
    /// the next one may lack what was known if another server has made it.
    private func isEarlier(_ new: VaultRow, _ bytes: [UInt8]?, than row: VaultRow, on server: ServerHistory?) -> Bool {
      guard new.version == row.version else {
        let isSameHistory = server == nil || history == nil || server == history
        return new.version < row.version || !isSameHistory
      }
      guard new.length >= row.length else { return true }
      // Without bytes, the statement has compared them, unless there are too many.
      guard let bytes else { return new.length <= limit }
      return !bytes[..<row.length].suffix(VaultRow.tailCount).elementsEqual(row.tail)
    }

    /// Whether what a replica has found is, or may be, of before what a primary has said.
    func isBehind(_ found: FoundBytes) -> Bool {
      guard hasPrimary, let row else { return false }
      return switch found {
      case .absent: true
      case .unchanged, .grown: false
      case .other(let new, _): (new.version, new.length) < (row.version, row.length)
      }
    }

    /// Takes over what was found.
    ///
    /// - Parameters:
    ///   - isReplica: whether a replica has found it.
    ///   - asked: when the database was asked.
    /// - Returns: whether the row has changed.
    mutating func take(
      _ found: FoundBytes, onReplica isReplica: Bool = false, asked: ContinuousClock.Instant
    ) -> Bool {
      defer { trim() }
      let old = row
      switch found {
      case .unchanged: break
      case .absent:
        row = nil
        window = []
        isWhole = false
      case .grown(let new, let bytes):
        row = new
        window += bytes
      case .other(let new, let bytes):
        row = new
        window = bytes ?? new.tail
        isWhole = bytes != nil
      }
      hasPrimary = hasPrimary || !isReplica
      if !hasPrimary || !isReplica { confirmed = asked }
      let isChanged = row != old || !isAsked
      isAsked = true
      if isChanged { serial += 1 }
      return isChanged
    }

    /// Drops what no load needs any more.
    mutating func trim() {
      loads.removeAll { $0.version == nil }
      guard let row, !isStale(row.version) else { return }
      isWhole = false
      let reached = loads.compactMap { $0.version?.reached }.min() ?? row.length
      let kept = max(start, min(reached, row.length) - VaultRow.tailCount)
      if kept > start { window.removeFirst(kept - start) }
    }
  }
#endif
