internal import VaultCore

/// The writes of a rotation. Each is one transaction, so that a crash leaves the state before it or the one after.
struct RotationChange {
  /// The maximum number of attempts to store the value if other writes change the record.
  private static let tries = 20

  let vault: Vault
  let group: AccessGroup
  let place: RecordPlace
  let key: String

  /// The record, of which no rotation is pending.
  func begin() throws -> RecordInfo {
    let record = try place.existing(key, in: group, of: vault)
    guard try RotationMark(of: record) == nil else {
      throw ToolError(
        VaultError(.conflict, "a rotation of the key is not confirmed"),
        hint: "--confirm keeps the new value, and --revert the old one")
    }
    return record
  }

  /// Refuses what ``store(_:expiry:keeping:)`` would refuse of any value, before a program makes one.
  func check(_ record: RecordInfo, expiry: Int64?, keeping: Vault.Keeping) throws {
    try vault.checkWritable(group)
    let edit = try edit(of: record, expiry: expiry, keeping: keeping)
    let none: [UInt8] = []
    _ = try vault.sealedChanges(service: place.service, in: group) { (batch) throws(VaultError) in
      try batch.set(none.span.bytes, kind: .data, forKey: key, edit: edit)
    }.get()
  }

  /// The metadata that a new value comes with.
  private func edit(of record: RecordInfo, expiry: Int64?, keeping: Vault.Keeping) throws -> RecordEdit {
    let depth = record.storedHistoryDepth ?? keeping.earlierValues
    let mark =
      try RotationMark(of: record)
      ?? RotationMark(revision: record.revision, depth: depth, expiry: record.expiry)
    var edit = RecordEdit()
    edit.attributes = .set(try RotationMark.attributes(of: record, mark))
    edit.historyDepth = .set(.max)
    if let expiry { edit.expiry = .set(expiry) }
    return edit
  }

  /// Stores the new value over the old one, which stays an earlier value. If another rotation was begun in the
  /// meantime, the values of both are kept.
  func store(_ value: borrowing TypedValue, expiry: Int64?, keeping: Vault.Keeping) throws {
    let kind = value.kind
    for attempt in 1...Self.tries {
      let record = try place.existing(key, in: group, of: vault)
      let edit = try edit(of: record, expiry: expiry, keeping: keeping)
      let result = value.body.withSpan { bytes in
        Result { () throws(VaultError) in
          try vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
            try batch.set(bytes, kind: kind, forKey: key, edit: edit, ifRevision: record.revision)
          }
        }
      }
      if case .failure(let error) = result, error.code == .conflict, attempt < Self.tries { continue }
      // Nothing is read afterwards: an error would say that nothing has changed.
      _ = try result.get()
      return
    }
  }

  /// Ends the rotation.
  ///
  /// - Parameter isReverted: Whether the old value becomes the current one, with the expiry that it had.
  func end(reverting isReverted: Bool) throws {
    let record = try place.existing(key, in: group, of: vault)
    guard let mark = try RotationMark(of: record) else {
      throw ToolError(
        VaultError(.notFound, "no rotation of the key has begun"),
        hint: "\"secretprefs rotate-value\(place.options) --generate \(shellKey(key))\" begins one")
    }
    var edit = RecordEdit()
    edit.attributes = .set(try RotationMark.attributes(of: record, nil))
    edit.historyDepth = .set(mark.depth)
    if isReverted { edit.expiry = mark.expiry.map { .set($0) } ?? .remove }
    do throws(VaultError) {
      try vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
        if isReverted { try batch.restore(key, revision: mark.revision, moves: true, ifRevision: record.revision) }
        try batch.edit(key, edit, ifRevision: record.revision)
      }
    } catch {
      guard error.code == .notFound else { throw error }
      throw ToolError(error, hint: Hints.revisions)
    }
  }
}
