/// What a durable write of records has done.
package struct CommittedWrite: Sendable {
  /// How many removals found their record.
  package var removedCount = 0
  /// The generation of the access group after the write, which is the revision of each record that was set; 0 if
  /// there was nothing to write.
  package var revision: UInt64 = 0
}
