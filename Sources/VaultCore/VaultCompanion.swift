internal import Synchronization

/// What another module keeps with a vault for all who use it, such as its observers. Made once and gone with the vault.
package protocol VaultCompanion: AnyObject, Sendable {
  /// Is called when any value may be another one: after ``Vault/unlock(with:)`` and after a full write of this vault
  /// object that is more than a fold.
  func vaultChanged()

  /// Is called before this vault object writes records, by the task or thread that does.
  func willWrite(_ records: WrittenRecords)

  /// Is called after `willWrite`, by the same task or thread, whether the write has succeeded or not.
  func didWrite(_ records: WrittenRecords)
}

/// Which records of an access group a write changes.
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
  /// Where the file is.
  package var path: String { handle.path.file }

  /// The companion, made by the first who asks. There is one of one type.
  package func companion<Companion: VaultCompanion>(_ make: () -> Companion) -> Companion {
    handle.companion.withLock { companion in
      if let companion = companion as? Companion { return companion }
      let new = make()
      companion = new
      return new
    }
  }

  /// A number that is another one when others' writes have been taken over since, as the file is now. Does not count as a
  /// use of the vault.
  package func writesOfOthers() throws(VaultError) -> Int {
    try handle.withCurrent(isUse: false) { (loaded, state) in loaded.othersBefore + state.othersEntries }
  }

  /// Tells the companion of a write that begins.
  func announce(_ changes: [RecordChange], in group: AccessGroup) -> Announcement? {
    handle.companion.withLock { $0 }.map { Announcement(WrittenRecords(changes, in: group), to: $0) }
  }

  /// A write that the companion knows of.
  struct Announcement {
    private let records: WrittenRecords
    private let companion: any VaultCompanion

    fileprivate init(_ records: WrittenRecords, to companion: any VaultCompanion) {
      (self.records, self.companion) = (records, companion)
      companion.willWrite(records)
    }

    /// Tells the companion that the write has ended.
    func end() { companion.didWrite(records) }
  }
}
