internal import VaultSealing

extension Vault {
  /// Seals chosen records into a bundle: a small vault file under a credential of its own, to be carried to another
  /// vault. Label, comment, expiry, attributes and accessibility go with them, kept earlier values do not.
  ///
  /// - Parameters:
  ///   - records: of `group`, as ``records(service:in:)`` gave them; their values are read now.
  ///   - path: where nothing may be yet.
  ///   - slot: what opens the bundle. A fresh credential: not one of this vault's.
  /// - Throws: ``VaultError/Code/notFound`` when a record is gone; ``VaultError/Code/unsupportedAccessibility`` for
  ///   values that stay on this device; ``VaultError/Code/alreadyExists``; what reading and creating can throw.
  public func exportBundle(
    _ records: [RecordInfo], of group: AccessGroup, to path: String, slot: NewSlot
  ) throws(VaultError) {
    guard !records.contains(where: \.accessibility.isThisDeviceOnly) else { throw Self.staysHere }
    var contents = NewGroup(group.name.text)
    for (service, records) in Dictionary(grouping: records, by: \.service) {
      contents.add(service: service) { (batch) throws(VaultError) in
        for record in records { try batch.copy(record, from: self, group) }
      }
    }
    var options = options
    options.markPath = nil
    (options.idleLimit, options.unlockLimit) = (nil, nil)
    _ = try Vault.create(at: path, slots: [slot], groups: [contents], options: options)
  }

  /// Takes the records of a bundle over into an access group, in one transaction: all of them, or none.
  ///
  /// - Parameter replacing: whether records that are there already are replaced.
  /// - Returns: how many records there were.
  /// - Throws: ``VaultError/Code/alreadyExists`` when one is there that may not be replaced; what reading and writing can
  ///   throw.
  @discardableResult
  public func importBundle(
    _ bundle: Vault, into group: AccessGroup, replacing: Bool = false
  ) throws(VaultError) -> Int {
    let (opener, sealer) = try takeSealer(for: group)
    defer { handle.giveBack(opener) }
    var changes: [RecordChange] = []
    for source in try bundle.groups() {
      for (service, records) in Dictionary(grouping: try bundle.records(in: source), by: \.service) {
        var batch = Vault.Batch(service: service, sealer)
        for record in records { try batch.copy(record, from: bundle, source, ifRevision: replacing ? nil : 0) }
        changes += batch.changes
      }
    }
    guard Set(changes.map(\.address)).count == changes.count else {
      throw VaultError(.alreadyExists, "two groups of the bundle have a record of one name")
    }
    do throws(VaultError) { try commit(changes, in: group) } catch {
      guard error.code == .conflict else { throw error }
      throw VaultError(.alreadyExists, "a record of the bundle is there already; nothing was imported")
    }
    return changes.count
  }
}

extension Vault {
  fileprivate static let staysHere = VaultError(
    .unsupportedAccessibility, "a value of \"this device only\" cannot leave it")
}

extension Vault.Batch {
  /// Opens a record's value where it is and seals it here.
  fileprivate mutating func copy(
    _ record: RecordInfo, from vault: Vault, _ group: AccessGroup, ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    var failure: VaultError?
    let isThere: Void? = try vault.withValue(of: record, in: group) { kind, value in
      do throws(VaultError) {
        try set(
          value.bytes, kind: kind, for: record.key, accessibility: record.accessibility, edit: RecordEdit(of: record),
          ifRevision: revision)
      } catch { failure = error }
    }
    if let failure { throw failure }
    guard isThere != nil, let now = try vault.record(record, in: group) else {
      throw VaultError(.notFound, "a record is gone")
    }
    // Looked at after reading: a value that is bound to the device since it was listed stays here.
    guard !now.accessibility.isThisDeviceOnly else { throw Vault.staysHere }
  }
}

extension RecordEdit {
  /// What is written down about a record: all of it, and nothing else.
  fileprivate init(of record: RecordInfo) {
    label = record.label.map(Field.set) ?? .remove
    comment = record.comment.map(Field.set) ?? .remove
    expiry = record.expiry.map(Field.set) ?? .remove
    attributes = record.attributes.isEmpty ? .remove : .set(record.attributes)
    historyDepth = record.historyDepth == 0 ? .remove : .set(record.historyDepth)
  }
}
