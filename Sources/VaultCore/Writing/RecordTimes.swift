/// When a record was made and when its value was set: milliseconds since 1970-01-01 UTC, as the writer's clock said.
package struct RecordTimes: Sendable, Hashable {
  package let created: Int64
  package let modified: Int64

  package init(created: Int64, modified: Int64) {
    self.created = created
    self.modified = modified
  }
}

extension Vault.Transaction {
  /// Sets a value like ``set(_:kind:forKey:accessibility:edit:ifRevision:)``, with the times that the record had
  /// elsewhere (`Docs/Decisions/0072`). The revision is that of the write.
  package mutating func set(
    _ value: RawSpan, kind: ValueKind, forKey key: String, accessibility: Vault.Accessibility?, edit: RecordEdit,
    times: RecordTimes?, ifRevision revision: UInt64?
  ) throws(VaultError) {
    try set(
      value, kind: kind, for: try storedSpelling(of: Vault.Name(key)), accessibility: accessibility, edit: edit,
      times: times, ifRevision: revision)
  }

  /// Adds the removal of a record that is kept, with the times of a removal elsewhere.
  package mutating func remove(
    _ key: String, removed: Int64, keptUntil: Int64, created: Int64
  ) throws(VaultError) {
    try add(
      RecordAddress(service, try storedSpelling(of: Vault.Name(key))),
      .remove(.keptAs(Removal(removed: removed, keptUntil: keptUntil))), RecordEdit(), nil,
      RecordTimes(created: created, modified: removed))
  }
}
