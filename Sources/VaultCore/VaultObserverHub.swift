internal import DurableFiles
internal import Synchronization

/// An object of another module that a vault owns and notifies of changes, such as the hub of its observers. A vault has
/// at most one, which is released with the vault.
package protocol VaultObserverHub: AnyObject, Sendable {
  /// Called when any value may have changed: after ``Vault/unlock(with:)`` and after a full write of this vault object
  /// that is not a fold.
  func vaultChanged()

  /// Called before this vault object writes records, by the task or thread that writes.
  func willWrite(_ records: WrittenRecords)

  /// Called after `willWrite` by the same task or thread, whether the write has succeeded or not.
  func didWrite(_ records: WrittenRecords)
}

/// The records of an access group that a write changes.
package struct WrittenRecords: Sendable {
  package let group: AccessGroup
  /// The keys of each service.
  package let keys: [Vault.Name: Set<String>]

  init(_ changes: [RecordChange], in group: AccessGroup) {
    self.group = group
    keys = Dictionary(grouping: changes, by: \.address.service).mapValues { Set($0.map(\.address.key.text)) }
  }
}

extension Vault {
  /// The path of the file.
  package var path: String { handle.path.file }

  /// Where the calls run that may wait for this vault.
  var waiting: HelperPool { .waiting(for: path) }

  /// Returns the vault's observer hub, creating it on first use.
  package func observerHub<Hub: VaultObserverHub>(_ make: () -> Hub) -> Hub {
    handle.observerHub.withLock { observerHub in
      if let observerHub = observerHub as? Hub { return observerHub }
      let new = make()
      observerHub = new
      return new
    }
  }

  /// A number that changes whenever this handle takes over writes of other handles or processes. Reads the file, but
  /// does not count as a use of the vault.
  package func writesOfOthers() throws(VaultError) -> Int {
    try handle.withCurrent(isUse: false) { (loaded, state) in loaded.othersBefore + state.othersEntries }
  }

  /// The revision of a record; `nil` if there is none. Does not count as a use of the vault.
  package func revision(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> UInt64? {
    try withRecord(service, key, in: group, isUse: false) { $0.revision }
  }

  /// Notifies the hub of the start of a write.
  func announce(_ changes: [RecordChange], in group: AccessGroup) -> Announcement? {
    handle.observerHub.withLock { $0 }.map { Announcement(WrittenRecords(changes, in: group), to: $0) }
  }

  /// A write whose start the hub was notified of.
  struct Announcement {
    private let records: WrittenRecords
    private let observerHub: any VaultObserverHub

    fileprivate init(_ records: WrittenRecords, to observerHub: any VaultObserverHub) {
      (self.records, self.observerHub) = (records, observerHub)
      observerHub.willWrite(records)
    }

    /// Notifies the hub of the end of the write.
    func end() { observerHub.didWrite(records) }
  }
}
