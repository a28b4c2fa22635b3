internal import DurableFiles
internal import VaultSealing

extension Vault {
  /// Seals records into a bundle: a small vault file with its own credential, for import into another vault.
  ///
  /// The bundle includes label, comment, expiry, attributes, history depth and accessibility of each record, but no
  /// earlier values. It is durable when the method returns.
  ///
  /// - Parameters:
  ///   - records: records of `group`, from ``records(service:in:)``. Their values are read now.
  ///   - path: the bundle's path, where no file may exist.
  ///   - slot: the credential that opens the bundle. Use a new one, not one of this vault.
  /// - Throws: ``VaultError/Code/notFound`` if a record was removed; ``VaultError/Code/unsupportedAccessibility`` for a
  ///   record of a "this device only" class; the codes of ``withValue(service:key:in:_:)`` and
  ///   ``create(at:slots:groups:options:)``.
  public func exportBundle(
    _ records: [RecordInfo], of group: AccessGroup, to path: String, slot: NewSlot
  ) throws(VaultError) {
    try exportBundle(records, of: group, to: FileStorage(path, options: options), slot: slot)
  }

  /// Copies records into a new bundle in an empty storage: like `exportBundle(_:of:to:slot:)` with a path.
  public func exportBundle(
    _ records: [RecordInfo], of group: AccessGroup, to storage: any VaultStorage, slot: NewSlot
  ) throws(VaultError) {
    let (contents, options) = try bundle(records, of: group)
    _ = try Vault.create(in: storage, slots: [slot], groups: [contents], options: options)
  }

  /// What a bundle is created with.
  private func bundle(
    _ records: [RecordInfo], of group: AccessGroup
  ) throws(VaultError) -> (contents: NewGroup, options: Options) {
    guard !records.contains(where: \.accessibility.isThisDeviceOnly) else { throw Self.notExportable }
    var contents = NewGroup(group.name.text)
    for (service, records) in Dictionary(grouping: records, by: \.service) {
      contents.add(service: service) { (batch) throws(VaultError) in
        for record in records { try batch.copy(record, from: self, group) }
      }
    }
    var options = options
    options.markPath = nil
    options.idleLimit = nil
    options.unlockLimit = nil
    return (contents, options)
  }

  /// The asynchronous form of `exportBundle(_:of:to:slot:)`. Cancelling the task does not stop it.
  public func exportBundle(
    _ records: [RecordInfo], of group: AccessGroup, to path: String, slot: NewSlot
  ) async throws(VaultError) {
    try await exportBundle(records, of: group, to: .at(path, options), slot: slot)
  }

  /// The asynchronous form of `exportBundle(_:of:to:slot:)` with a storage. Cancelling the task does not stop it.
  public func exportBundle(
    _ records: [RecordInfo], of group: AccessGroup, to storage: any VaultStorage, slot: NewSlot
  ) async throws(VaultError) {
    let (contents, options) = try bundle(records, of: group)
    _ = try await Vault.create(in: storage, slots: [slot], groups: [contents], options: options)
  }

  /// Copies the records of a bundle into an access group, in one transaction: all of them or none. Durable when the
  /// method returns.
  ///
  /// - Parameter replacing: whether existing records of the same names are replaced.
  /// - Returns: The number of records in the bundle.
  /// - Throws: ``VaultError/Code/alreadyExists`` if a record exists that may not be replaced, or if two groups of the
  ///   bundle have records of the same name; the codes of ``transaction(service:in:_:)``.
  @discardableResult
  public func importBundle(
    _ bundle: Vault, into group: AccessGroup, replacing: Bool = false
  ) throws(VaultError) -> Int {
    try importRecords(of: bundle, into: group, replacing: replacing).count
  }

  /// As ``importBundle(_:into:replacing:)``, and also returns the revision that the records have got; 0 if there are
  /// none.
  package func importRecords(
    of bundle: Vault, into group: AccessGroup, replacing: Bool
  ) throws(VaultError) -> (count: Int, revision: UInt64) {
    let (opener, sealer) = try acquireSealer(for: group)
    defer { handle.release(opener) }
    var changes: [RecordChange] = []
    for source in try bundle.groups() {
      for (service, records) in Dictionary(grouping: try bundle.records(in: source), by: \.service) {
        var batch = Vault.Transaction(service: service, sealer)
        batch.keeping = options.keeping
        for record in records { try batch.copy(record, from: bundle, source, ifRevision: replacing ? nil : 0) }
        changes += batch.changes
      }
    }
    guard Set(changes.map(\.address)).count == changes.count else {
      throw VaultError(.alreadyExists, "two groups of the bundle have a record of the same name")
    }
    do throws(VaultError) { return (changes.count, try commit(changes, in: group).revision) } catch {
      guard error.code == .conflict else { throw error }
      throw VaultError(.alreadyExists, "the access group already has a record of the bundle; nothing was imported")
    }
  }

  /// The asynchronous form of `importBundle(_:into:replacing:)`. Cancelling the task does not stop it.
  @discardableResult
  public func importBundle(
    _ bundle: Vault, into group: AccessGroup, replacing: Bool = false
  ) async throws(VaultError) -> Int {
    try await waiting.run { () throws(VaultError) in
      try importBundle(bundle, into: group, replacing: replacing)
    }
  }
}

extension Vault {
  fileprivate static let notExportable = VaultError(
    .unsupportedAccessibility, "a value of \"this device only\" cannot be exported")
}

extension Vault.Transaction {
  /// Opens a record's value in `vault` and seals it for this batch's group.
  fileprivate mutating func copy(
    _ record: RecordInfo, from vault: Vault, _ group: AccessGroup, ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    var failure: VaultError?
    let isThere: Void? = try vault.withValue(of: record, in: group) { kind, value in
      do throws(VaultError) {
        try set(
          value, kind: kind, for: record.key, accessibility: record.accessibility, edit: RecordEdit(of: record),
          ifRevision: revision)
      } catch { failure = error }
    }
    if let failure { throw failure }
    guard isThere != nil, let now = try vault.record(record, in: group) else {
      throw VaultError(.notFound, "a record was removed")
    }
    // Checked after reading, because the value may have been bound to the device since it was listed.
    guard !now.accessibility.isThisDeviceOnly else { throw Vault.notExportable }
  }
}

extension RecordEdit {
  /// Sets every field that `record` has and removes the others, for a copy of it. A record that the copy replaces keeps
  /// its earlier values.
  package init(of record: RecordInfo) {
    self.init(metadataOf: record)
    historyDepth = record.storedHistoryDepth.map(Field.set) ?? .remove
    keepsReplacedDepth = true
  }
}
