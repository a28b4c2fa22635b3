/// The records of one service in one access group as they were at one moment, with the keys of their values.
///
/// ``Vault/lock()`` and the vault's limits wipe it, except the values that stay readable after a lock. Unlocking the
/// vault does not restore it.
package final class ServiceRecords: Sendable {
  let service: Vault.Name
  let group: AccessGroup
  let content: Content

  /// What the handle locks. An object of its own, because a weak reference makes counting the others slower, and a read
  /// counts those to the records.
  final class Content: @unchecked Sendable {
    // Unchecked: accessed only under the handle's lock.
    fileprivate var all: DetachedRecords?
    fileprivate let readableAfterLock: DetachedRecords?
    fileprivate var isLocked = false

    fileprivate init(_ all: DetachedRecords?, readableAfterLock: DetachedRecords?) {
      self.all = all
      self.readableAfterLock = readableAfterLock
    }

    func lock() {
      all = nil
      isLocked = true
    }
  }

  fileprivate init(_ service: Vault.Name, in group: AccessGroup, _ state: VaultState) throws(VaultError) {
    self.service = service
    self.group = group
    let content = try state.content(group.id)
    func isOfService(_ record: Record) -> Bool {
      service.spellings.contains { compareBytes(record.name.service, $0.bytes) == 0 }
    }
    self.content = Content(
      try DetachedRecords(content, state, where: isOfService),
      readableAfterLock: try DetachedRecords(content, state) {
        isOfService($0) && $0.accessibility.isReadableAfterLock
      })
  }

  /// - Throws: ``VaultError/Code/locked``.
  func find(_ name: borrowing RecordName) throws(VaultError) -> (record: Record, cipher: ValueCipher)? {
    guard content.isLocked else { return content.all?.find(name) }
    // Without the keys it is unknown whether the record exists.
    guard let found = content.readableAfterLock?.find(name) else { throw VaultHandle.Loaded.refusal }
    return found
  }

  /// - Throws: ``VaultError/Code/locked``.
  func forEachInOrder(_ body: (Record) throws(VaultError) -> Void) throws(VaultError) {
    if content.isLocked { throw VaultHandle.Loaded.refusal }
    try content.all?.forEachInOrder(body)
  }
}

extension Vault {
  /// Copies the present records of a service, still sealed. Reading them does not access the file.
  package func takeRecords(service: Vault.Name, in group: AccessGroup) throws(VaultError) -> ServiceRecords {
    try handle.withCurrent { (loaded, state) throws(VaultError) in
      let records = try ServiceRecords(service, in: group, state)
      loaded.add(records.content)
      return records
    }
  }

  /// The metadata of a record of `records`; `nil` if there is no such record.
  package func record(key: String, in records: ServiceRecords) throws(VaultError) -> RecordInfo? {
    try withRecord(records.service, key, in: records.group, at: records) { (record) throws(VaultError) in
      try RecordInfo(record)
    }
  }

  /// The keys of `records`, as ``keys(service:in:)`` would have listed them.
  package func keys(in records: ServiceRecords) throws(VaultError) -> [String] {
    try handle.underLock { () throws(VaultError) in
      var keys: [String] = []
      for service in records.service.spellings where keys.isEmpty {
        try records.forEachInOrder { (record) throws(VaultError) in
          guard compareBytes(record.name.service, service.bytes) == 0 else { return }
          keys.append(String(decoding: record.name.key.copy, as: UTF8.self))
        }
      }
      return keys
    }
  }
}
