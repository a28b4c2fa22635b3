internal import VaultSealing

/// The state of one access group after its section and entries: records, generation and the tag to which the next entry
/// is chained (`Docs/Format.md` 3.6, 3.7).
///
/// Values stay sealed. Accessed only under the vault's lock, or by the thread that creates it.
final class GroupContent {
  let id: Vault.Identifier
  let epoch: UInt32
  let vaultID: Vault.Identifier
  let key: SealingKey
  let name: Vault.Name
  let baseGeneration: UInt64
  let baseTag: Vault.Tag
  private(set) var extensionField: [UInt8]
  /// `nil` if the group was never logged.
  private(set) var auditItem: AuditItem?
  /// Whether the file has the feature flag of logs.
  private let isLogged: Bool
  private(set) var generation: UInt64
  /// The tag of the last entry, or of the section when there is none.
  private(set) var tag: Vault.Tag
  /// The number of entries behind the section.
  private(set) var entryCount = 0
  /// The total length of these entries, in bytes.
  private(set) var entryBytes = 0
  private(set) var index: RecordIndex
  // The buffers of names and sealed values, which are wiped when the group is released.
  private var buffers: [WipedBuffer]
  private var classKeys: ClassKeys
  // One for each accessibility class, created on first use.
  private var ciphers: [ValueCipher?] = Vault.Accessibility.allCases.map { _ in nil }
  private var auditKeys: AuditKeys?
  private let limits: Vault.Limits

  static let sectionStep = 1024
  static let entryStep = 256
  /// The shortest change: a removal of a record whose service and key have one byte each.
  private static let removalMinimum = 7

  /// Opens and parses a section.
  /// - Throws: ``VaultError/Code/tampered`` if the seal fails, otherwise the code of the first fault.
  convenience init(
    sealed: RawSpan, id: Vault.Identifier, epoch: UInt32, vaultID: Vault.Identifier, key: SealingKey,
    sealer: Sealer, limits: Vault.Limits, isLogged: Bool
  ) throws(VaultError) {
    guard
      let body = try sealer.openBody(
        sealed, step: Self.sectionStep, with: key, as: .section(vault: vaultID, group: id, epoch: epoch))
    else { throw .tampered("a group's section does not verify") }
    try self.init(
      body: body.buffer, count: body.count, tag: Vault.Tag(sealed, at: Sealer.tag.lowerBound), id: id,
      epoch: epoch, vaultID: vaultID, key: key, limits: limits, isLogged: isLogged)
  }

  /// Parses a section's body.
  init(
    body: WipedBuffer, count bodyCount: Int, tag: Vault.Tag, id: Vault.Identifier, epoch: UInt32,
    vaultID: Vault.Identifier,
    key: SealingKey, limits: Vault.Limits, isLogged: Bool
  ) throws(VaultError) {
    var reader = ByteReader(body.span.extracting(..<bodyCount))
    let generation = try reader.generation()
    baseGeneration = try reader.generation()
    baseTag = try reader.tag()
    name = try Vault.Name(verbatim: reader.name().copy)
    let count = try reader.integer(UInt32.self)
    guard count <= limits.records else { throw VaultError(.limitExceeded, "more records than the limit") }
    try reader.check(count, itemsOfAtLeast: Record.minimumCount)
    var index = RecordIndex(capacity: Int(count))
    var last: Record?
    for _ in 0..<count {
      let record = try Record(&reader, generation: generation, after: last, limits: limits)
      last = record
      index.appendLast(record)
    }
    let field = try reader.lp32()
    auditItem = try AuditItem(in: field, isLogged: isLogged, epoch: epoch)
    try reader.finish()
    self.isLogged = isLogged
    extensionField = field.copy
    self.index = index
    self.generation = generation
    buffers = [body]
    self.tag = tag
    self.id = id
    self.epoch = epoch
    self.vaultID = vaultID
    self.key = key
    self.limits = limits
    classKeys = ClassKeys(of: key)
  }

  /// Makes an empty group.
  init(
    id: Vault.Identifier, vaultID: Vault.Identifier, key: SealingKey, name: Vault.Name, limits: Vault.Limits,
    epoch: UInt32 = 1,
    generation: UInt64 = 0
  ) {
    self.id = id
    self.vaultID = vaultID
    self.key = key
    self.name = name
    self.limits = limits
    self.epoch = epoch
    self.generation = generation
    classKeys = ClassKeys(of: key)
    baseGeneration = 1
    baseTag = .zero
    tag = .zero
    extensionField = []
    auditItem = nil
    isLogged = false
    index = RecordIndex()
    buffers = []
  }

  /// The key with which values of a class are sealed.
  func classKey(_ accessibility: Vault.Accessibility, _ sealer: Sealer) throws(VaultError) -> SealingKey {
    try classKeys.key(accessibility, sealer)
  }

  /// The keys and ids with which values of a class are sealed.
  func cipher(_ accessibility: Vault.Accessibility, _ sealer: Sealer) throws(VaultError) -> ValueCipher {
    if let cipher = ciphers[Int(accessibility.rawValue)] { return cipher }
    let cipher = ValueCipher(
      accessibility: accessibility, classKey: try classKey(accessibility, sealer), vaultID: vaultID, groupID: id,
      audit: try audit(sealer))
    ciphers[Int(accessibility.rawValue)] = cipher
    return cipher
  }

  /// The keys and policy for logging the group's reads and writes; `nil` if they are not logged.
  func audit(_ sealer: Sealer) throws(VaultError) -> AuditKeys? {
    guard auditItem?.policy != nil else { return nil }
    if let auditKeys { return auditKeys }
    let keys = try AuditKeys(self, sealer)
    auditKeys = keys
    return keys
  }

  /// The number of records in the file, with the removed ones that are kept.
  var storedCount: Int { index.count }
  /// The number of removed records that are kept.
  var removedCount: Int { index.removedCount }
  /// The number of records that reads find.
  var recordCount: Int { index.count - index.removedCount }

  /// The record of that name, unless it is removed.
  func find(_ name: borrowing RecordName) -> Record? { index.find(name).flatMap { $0.isRemoved ? nil : $0 } }

  func find(_ address: RecordAddress) -> Record? { find(address.name) }

  /// The record of that name, even if it is removed and only kept.
  func findStored(_ address: RecordAddress) -> Record? { index.find(address.name) }

  /// Calls `body` with each record that reads find, in order.
  func forEachInOrder<E: Error>(_ body: (Record) throws(E) -> Void) throws(E) {
    try index.forEachInOrder { (record) throws(E) in if !record.isRemoved { try body(record) } }
  }

  /// Calls `body` with each record in the file, in order: also with the removed ones that are kept.
  func forEachStored<E: Error>(_ body: (Record) throws(E) -> Void) throws(E) {
    try index.forEachInOrder(body)
  }

  /// Calls `body` with each removed record that is kept, in any order, until it returns `false`. Costs nothing for the
  /// other records.
  func forEachRemoved<E: Error>(_ body: (Record) throws(E) -> Bool) throws(E) {
    try index.forEachRemoved(body)
  }

  /// Whether the time has passed for which a removed record is kept.
  func hasDueRecord(at now: Int64) throws(VaultError) -> Bool {
    var isFound = false
    try index.forEachRemoved { (record) throws(VaultError) in
      isFound = try record.isDue(at: now)
      return !isFound
    }
    return isFound
  }

  // MARK: Entries

  /// An entry's changes, opened and checked but not applied.
  struct Staged {
    enum Step { case put(Record), remove(Record) }

    let changes: [Step]
    /// The group's log item and extension field from this entry on; `nil` if they do not change.
    let logging: (item: AuditItem, field: [UInt8])?
    let tag: Vault.Tag?
    fileprivate let buffer: WipedBuffer
  }

  /// The context of the next entry of this group.
  @_lifetime(immortal)
  func entryContext(_ manifestTag: Vault.Tag) -> Context {
    .entry(vault: vaultID, group: id, epoch: epoch, manifest: manifestTag, previous: tag)
  }

  /// Opens the sealed part of the next entry and checks it against the present records.
  func stage(
    sealed: RawSpan, manifestTag: Vault.Tag, sealer: Sealer
  ) throws(VaultError) -> Staged {
    guard
      let body = try sealer.openBody(sealed, step: Self.entryStep, with: key, as: entryContext(manifestTag))
    else { throw .tampered("a journal entry does not verify") }
    return try stage(body.buffer, count: body.count, tag: Vault.Tag(sealed, at: Sealer.tag.lowerBound))
  }

  /// Checks a list of changes that was never sealed, for a full write.
  func stage(body: WipedBuffer) throws(VaultError) -> Staged {
    try stage(body, count: body.count, tag: nil)
  }

  private func stage(_ buffer: WipedBuffer, count: Int, tag: Vault.Tag?) throws(VaultError) -> Staged {
    var reader = ByteReader(buffer.span.extracting(..<count))
    let next = try reader.generation()
    guard next == generation + 1 else { throw .malformed("the generation of a journal entry") }
    let changeCount = try reader.integer(UInt32.self)
    guard changeCount >= 1 else { throw .malformed("a journal entry without changes") }
    let logging = try policyChange(&reader, in: buffer.span.extracting(..<count))
    let recordCount = changeCount - (logging == nil ? 0 : 1)
    try reader.check(recordCount, itemsOfAtLeast: Self.removalMinimum)
    var changes: [Staged.Step] = []
    changes.reserveCapacity(Int(changeCount))
    var last: Record?
    var records = index.count
    for _ in 0..<recordCount {
      switch try reader.integer(UInt8.self) {
      case 1:
        let record = try Record(&reader, generation: next, revision: next, after: last, limits: limits)
        last = record
        if index.find(record.name) == nil { records += 1 }
        changes.append(.put(record))
      case 2:
        let name = RecordName(service: try reader.name(), key: try reader.name())
        if let last, !(last.name < name) { throw .malformed("the order of changes") }
        guard let record = index.find(name) else { throw .malformed("a removal of nothing") }
        last = record
        records -= 1
        changes.append(.remove(record))
      default: throw .malformed("an unknown change")
      }
    }
    try reader.finish()
    guard records <= limits.records else { throw VaultError(.limitExceeded, "more records than the limit") }
    return Staged(changes: changes, logging: logging, tag: tag, buffer: buffer)
  }

  /// The change of the log's policy with which an entry may begin (`Docs/Format.md` F.1).
  private func policyChange(
    _ reader: inout ByteReader, in body: RawSpan
  ) throws(VaultError) -> (item: AuditItem, field: [UInt8])? {
    guard isLogged, reader.remaining > 0, body.byte(at: reader.position) == Self.policyChange else { return nil }
    _ = try reader.integer(UInt8.self)
    var item = auditItem ?? AuditItem()
    item.policyNumber = try reader.integer()
    return (item, try item.put(in: extensionField))
  }

  static let policyChange: UInt8 = 3

  /// The body of an entry that sets the policy of the group's log.
  func entryBody(policy: AuditPolicy?) throws(VaultError) -> WipedBuffer {
    guard isLogged else { throw VaultError(.unsupportedFeature, "the vault was never logged") }
    var writer = ByteWriter()
    writer.integer(try nextGeneration)
    writer.integer(UInt32(1))
    writer.integer(Self.policyChange)
    writer.integer(policy?.number ?? AuditPolicy.off)
    return WipedBuffer(copying: writer.bytes.bytes)
  }

  /// The generation of the next entry.
  /// - Throws: ``VaultError/Code/limitExceeded``.
  var nextGeneration: UInt64 {
    get throws(VaultError) {
      guard generation + 1 <= Vault.Limits.generations.upperBound else {
        throw VaultError(.limitExceeded, "the group has no generation left")
      }
      return generation + 1
    }
  }

  /// Applies staged changes.
  func apply(_ staged: Staged) {
    for change in staged.changes {
      switch change {
      case .put(let record): index.put(record)
      case .remove(let record): index.remove(record.name)
      }
    }
    if let logging = staged.logging {
      auditItem = logging.item
      extensionField = logging.field
      // They have the settings of before.
      auditKeys = nil
      ciphers = ciphers.map { _ in nil }
    }
    buffers.append(staged.buffer)
    generation += 1
    if let tag = staged.tag {
      self.tag = tag
      entryCount += 1
      entryBytes +=
        staged.buffer.count + Sealer.overhead + JournalFrame.headCount + JournalFrame.checkCount
    }
  }

  // MARK: Sections

  /// A section body with these records, without padding. It contains names and sealed values: the caller wipes it.
  ///
  /// - Parameters:
  ///   - newExtension: the extension field of the section; `nil` for the present one.
  ///   - isDropped: whether a removed record is not kept any longer.
  ///   - write: writes one record, unchanged or sealed again.
  func sectionBody(
    name: Vault.Name, generation: UInt64, baseGeneration: UInt64, baseTag: Vault.Tag,
    extensionField newExtension: [UInt8]? = nil,
    dropping isDropped: (Record) throws(VaultError) -> Bool = { _ in false },
    _ write: (Record, inout ByteWriter) throws(VaultError) -> Void = { $1.raw($0.bytes) }
  ) throws(VaultError) -> [UInt8] {
    var writer = ByteWriter()
    var isWhole = false
    defer { if !isWhole { writer.bytes.wipe() } }
    let extensionField = newExtension ?? extensionField
    var length = 64 + name.utf8.count + extensionField.count
    var keptCount = 0
    try index.forEachInOrder { (record) throws(VaultError) in
      if record.isRemoved, try isDropped(record) { return }
      length += Int(record.count)
      keptCount += 1
    }
    writer.bytes.reserveCapacity(length)
    writer.integer(generation)
    writer.integer(baseGeneration)
    writer.raw(baseTag)
    writer.lp16(name.utf8)
    writer.integer(UInt32(keptCount))
    try index.forEachInOrder { (record) throws(VaultError) in
      if record.isRemoved, try isDropped(record) { return }
      try write(record, &writer)
    }
    writer.lp32(extensionField)
    isWhole = true
    return writer.bytes
  }
}
