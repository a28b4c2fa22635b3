internal import DurableFiles
internal import Synchronization

/// An object of another module that a vault owns and notifies of changes, such as the hub of its observers. A vault has
/// at most one, which is released with the vault.
package protocol VaultObserverHub: AnyObject, Sendable {
  /// Called when values may have changed: after ``Vault/unlock(with:)`` and after a full write of this vault object
  /// that is not a fold.
  func vaultChanged()

  /// Called before this vault object writes records, by the task or thread that writes.
  func willWrite(_ records: WrittenRecords)

  /// Called after `willWrite` by the same task or thread, with the result of the write.
  ///
  /// - Returns: what notifies the observers, who may block; `nil` if there are none to notify.
  func didWrite(_ records: WrittenRecords, _ outcome: Result<CommittedWrite, VaultError>) -> (@Sendable () -> Void)?
}

/// The records of an access group that a write changes.
package struct WrittenRecords: Sendable {
  package let group: AccessGroup
  /// The keys of each service.
  package let keys: [Vault.Name: Set<String>]
  private let removed: Set<RecordAddress>

  init(_ changes: [RecordChange], in group: AccessGroup) {
    self.group = group
    keys = Dictionary(grouping: changes, by: \.address.service).mapValues { Set($0.map(\.address.key.text)) }
    removed = Set(changes.filter { if case .remove = $0.operation { true } else { false } }.map(\.address))
  }

  /// The keys of a service whose records do not exist after the write.
  package func removedKeys(of service: Vault.Name) -> Set<String> {
    Set(removed.filter { $0.service == service }.map(\.key.text))
  }
}

extension Vault {
  /// The path of the file, or the name of another storage.
  package var path: String { handle.storage.name }

  /// Calls `notify` after others have changed the vault's bytes: see ``VaultStorage/observe(_:)``.
  package func observeStorage(
    _ notify: @escaping @Sendable () -> Void
  ) throws(VaultError) -> StorageObservation { try handle.storage.observe(notify) }

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

  /// The revisions of the records that exist. Does not count as a use of the vault.
  ///
  /// - Parameter keys: as the file spells them.
  package func revisions(
    service: Vault.Name, keys: some Collection<String>, in group: AccessGroup
  ) throws(VaultError) -> [String: UInt64] {
    if keys.isEmpty { return [:] }
    return try handle.withCurrent(isUse: false) { (_, state) throws(VaultError) in
      let content = try state.content(group.id)
      let services = try service.spellings.map { (name) throws(VaultError) in try Vault.Name(verbatim: name) }
      var revisions: [String: UInt64] = [:]
      for key in keys {
        let name = try Vault.Name(verbatim: Array(key.utf8))
        for service in services where revisions[key] == nil {
          revisions[key] = content.find(RecordAddress(service, name))?.revision
        }
      }
      return revisions
    }
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
      self.records = records
      self.observerHub = observerHub
      observerHub.willWrite(records)
    }

    /// Notifies the hub of the end of the write, and the observers on this thread.
    func end(_ outcome: Result<CommittedWrite, VaultError>) { observerHub.didWrite(records, outcome)?() }

    /// Notifies the hub of the end of the write, and the observers on a helper thread: they may block.
    func end(_ outcome: Result<CommittedWrite, VaultError>, notifyingIn pool: HelperPool) async {
      if let notify = observerHub.didWrite(records, outcome) { await pool.run(notify) }
    }
  }
}
