extension Vault {
  /// Copies a record to a different key or service of its access group, or moves it there, in one transaction.
  ///
  /// The copy has the value, kind, class, creation time, metadata and earlier values of the record. Its revision and
  /// time of change are new. Durable when the method returns; if it throws, nothing has changed, except with
  /// ``VaultError/Code/durabilityUnknown``.
  ///
  /// - Parameters:
  ///   - isMove: whether the record with the old name is removed.
  ///   - replaces: whether a record that has the new name is replaced. Its values are kept as earlier values of the
  ///     copy only with ``Options/keeping``.
  ///   - revision: the revision that the record must have; `nil` for any.
  /// - Throws: ``VaultError/Code/notFound``; ``VaultError/Code/alreadyExists`` if a record has the new name and
  ///   `replaces` is `false`, or if the new name is that of the source; ``VaultError/Code/conflict``;
  ///   ``VaultError/Code/deviceKeyMissing`` or ``VaultError/Code/wrongDevice`` for a value of the "this device only"
  ///   classes.
  package func copy(
    _ key: String, of service: Vault.Name, to newKey: String, of newService: Vault.Name, in group: AccessGroup,
    isMove: Bool, replaces: Bool = false, ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    // Looked up for the names as they are spelled in the file. The write checks both records again, under its lock.
    guard let source = try address(service, key, in: group) else { throw .noSuchRecord }
    let target =
      if let existing = try address(newService, newKey, in: group) { existing } else {
        RecordAddress(try storedSpelling(of: newService, in: group), try Vault.Name(newKey))
      }
    guard target != source else { throw .recordExists }
    let copy = CopyRequest(
      source: source, expected: revision, replaces: replaces, keptValues: options.keeping.earlierValues)
    var changes = [RecordChange(target, .copy(copy))]
    if isMove { changes.append(RecordChange(source, .remove(.atOnce))) }
    try commit(changes, in: group)
  }

  /// The name of a record as the file spells it; `nil` if there is no such record.
  private func address(
    _ service: Vault.Name, _ key: String, in group: AccessGroup
  ) throws(VaultError) -> RecordAddress? {
    try record(service: service, key: key, in: group).map { RecordAddress($0.service, $0.key) }
  }
}
