internal import VaultCore
internal import VaultSealing

/// The copy of a record in a different access group, or in a different vault.
///
/// Every access group has its own key, so that a move takes two writes. The second, the removal, is made only when the
/// copy is durable (`Docs/Decisions/0083`).
struct GroupCopy {
  let vault: Vault
  let record: RecordInfo
  let group: AccessGroup
  /// `nil` for the same vault.
  var newVault: Vault?
  let service: Vault.Name
  let key: Vault.Name
  let newGroup: AccessGroup

  private var target: Vault { newVault ?? vault }

  /// Writes the value, the kind, the accessibility and the metadata of the record, without its earlier values.
  ///
  /// - Parameters:
  ///   - keepsDepth: whether a record that is replaced keeps its history depth if that is larger.
  ///   - keepsValue: whether the value that is replaced becomes an earlier one.
  func copy(replaces: Bool, keepsDepth: Bool = true, keepsValue: Bool = true) throws(VaultError) {
    var edit = RecordEdit(of: record)
    edit.keepsReplacedDepth = keepsDepth
    edit.keepsReplacedValue = keepsValue
    var outcome: Result<Void, VaultError> = .failure(VaultError(.notFound, "the record was removed"))
    _ = try vault.withValue(of: record, in: group) { kind, value in
      outcome = Result { () throws(VaultError) in
        try target.transaction(service: service, in: newGroup) { (batch) throws(VaultError) in
          try batch.set(
            value, kind: kind, forKey: key.text, accessibility: record.accessibility, edit: edit,
            ifRevision: replaces ? nil : 0)
        }
      }
    }
    do throws(VaultError) { try outcome.get() } catch {
      guard error.code == .conflict, !replaces else { throw error }
      throw VaultError(.alreadyExists, "a key with the new name exists")
    }
  }

  /// Whether the new group has the record with the same value and metadata: a move was interrupted before the removal.
  func isMade() throws(VaultError) -> Bool {
    guard let copy = try target.record(service: service, key: key.text, in: newGroup), copy.label == record.label,
      copy.comment == record.comment, copy.expiry == record.expiry, copy.attributes == record.attributes,
      // A copy of a record without a depth gets the default one.
      record.storedHistoryDepth == nil || copy.storedHistoryDepth == record.storedHistoryDepth
    else { return false }
    return try hasValue()
  }

  /// Whether the new group has the record with the same value, whatever its metadata.
  func hasValue() throws(VaultError) -> Bool {
    guard let copy = try target.record(service: service, key: key.text, in: newGroup), copy.kind == record.kind,
      copy.accessibility == record.accessibility
    else { return false }
    guard let value = try vault.copiedValue(of: record, in: group) else { return false }
    return try target.withValue(of: copy, in: newGroup) { value.isEqual(to: $1) } ?? false
  }

  /// Removes the original, unless it was changed since it was copied. It is kept with its earlier values for a time.
  func removeOriginal() throws(VaultError) {
    do throws(VaultError) {
      try vault.transaction(service: record.service, in: group) { (batch) throws(VaultError) in
        try batch.remove(record.key, ifRevision: record.revision)
      }
    } catch {
      let reason = error.code == .conflict ? "it was changed in the meantime" : error.message
      let message = "the copy is made, but the original could not be removed: \(reason)"
      throw VaultError(error.code, message, errno: error.errno, cause: error.cause)
    }
  }
}

extension Vault {
  /// Copies a value of a record to guarded memory. Returns `nil` if the record does not have it.
  ///
  /// - Parameter revision: that of the current value or of an earlier one; `nil` for the current one.
  func copiedValue(
    of record: RecordInfo, previous revision: UInt64? = nil, in group: AccessGroup
  ) throws(VaultError) -> SecretBytes? {
    var value: SecretBytes?
    var failure: VaultError?
    _ = try withValue(of: record, previous: revision, in: group) { _, bytes in
      do throws(VaultError) { value = try SecretBytes(copying: bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    return value.take()
  }
}
