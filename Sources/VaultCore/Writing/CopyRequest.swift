internal import VaultSealing

/// The record that a change copies, and the conditions for the copy.
struct CopyRequest: Sendable {
  let source: RecordAddress
  /// The revision that the source must have; `nil` for any.
  let expected: UInt64?
  /// The revision of the earlier value that becomes the copy's value; newer ones are not copied, and the source may be
  /// removed. `nil` for the current value.
  var revision: UInt64?
  /// The revisions of the earlier values that are copied; `nil` for all.
  var revisions: Set<UInt64>?
  /// Whether a record that has the new name is replaced.
  let replaces: Bool
  /// The number of earlier values, at least, among which those of the replaced record are kept, beside its own history
  /// depth; 0 for none of them.
  let keptValues: UInt16

  /// The size that the ``WriteQueue`` assumes, because the source is not known yet: so large that no write of a
  /// different caller is in the same entry. Two such writes could copy each other's old record.
  static let cost = WriteQueue.batchBytes + 1
}

/// A copy of a record, sealed for a different name.
struct ResealedRecord: Sendable {
  let kind: UInt8
  let accessibility: Vault.Accessibility
  let created: Int64
  let sealed: [UInt8]
  /// `nil` if it is empty.
  let extensionField: WipedBuffer?
}

extension RecordChange {
  /// The time of creation that the change sets; `nil` to keep the time of the record, or to set the present time for a
  /// new record.
  var created: Int64? { if case .resealed(let record) = operation { record.created } else { nil } }
}

extension GroupContent {
  /// Opens the value and the earlier values of a copy's source in locked memory and seals them for the new name.
  ///
  /// - Parameters:
  ///   - edit: what the copy's metadata gets in place of those of the source.
  ///   - stored: the record in the file that has the new name, even if it is removed.
  /// - Throws: ``VaultError/Code/notFound``, ``VaultError/Code/conflict``, ``VaultError/Code/alreadyExists``,
  ///   ``VaultError/Code/deviceKeyMissing`` or ``VaultError/Code/wrongDevice``.
  func copied(
    _ copy: CopyRequest, _ edit: RecordEdit, _ address: RecordAddress, _ stored: Record?, deviceKey: SealingKey?,
    _ sealer: Sealer
  ) throws(VaultError) -> ResealedRecord {
    guard let record = copy.revision == nil ? find(copy.source) : findStored(copy.source) else { throw .noSuchRecord }
    if let expected = copy.expected, expected != record.revision { throw .conflict }
    guard stored?.isRemoved ?? true || copy.replaces else { throw .recordExists }
    let cipher = try cipher(record.accessibility, sealer)
    let reseal = { (sealed: RawSpan, kind: UInt8, revision: UInt64?, isEarlier: Bool) throws(VaultError) in
      try cipher.resealed(
        sealed, kind, previous: revision, to: cipher, as: isEarlier ? revision : nil, of: record.name,
        for: address.name, deviceKey: deviceKey, sealer)
    }
    var items = edit.items
    let replaced = edit.replacedTags.union([Extension.RecordTag.removal])
    var fields = Extension.Items(record.extensionField)
    while let item = try fields.next() {
      guard !replaced.contains(item.tag) else { continue }
      guard item.tag == Extension.RecordTag.previous else {
        items.append(.init(item.tag, item.data.copy))
        continue
      }
      let value = try PreviousValue(item.data)
      if let revision = copy.revision, value.revision >= revision { continue }
      if let revisions = copy.revisions, !revisions.contains(value.revision) { continue }
      items.append(
        .init(
          item.tag,
          PreviousValue.item(
            revision: value.revision, modified: value.modified, kind: value.kind,
            sealed: try reseal(value.sealed, value.kind, value.revision, true))))
    }
    var kind = record.kind
    let sealed: [UInt8]
    if let revision = copy.revision {
      guard let value = try record.previous(revision) else { throw .noSuchRecord }
      kind = value.kind
      sealed = try reseal(value.sealed, value.kind, revision, false)
    } else {
      sealed = try reseal(record.sealedValue, record.kind, nil, false)
    }
    if let stored, copy.keptValues > 0 {
      try addEarlierValues(of: stored, to: &items, of: record.accessibility, atLeast: copy.keptValues, sealer)
    }
    var field = Extension.field(wiping: &items)
    defer { field.wipe() }
    return ResealedRecord(
      kind: kind, accessibility: record.accessibility, created: record.created, sealed: sealed,
      extensionField: field.isEmpty ? nil : WipedBuffer(copying: field.bytes))
  }
}

extension GroupContent {
  /// Adds the value and the earlier values of a record that is replaced to those of its copy, in the order of their
  /// revisions. The replaced value itself is never dropped for an older one of the copy.
  ///
  /// - Parameter accessibility: the class of the copy. Values with a different device layer are not kept.
  private func addEarlierValues(
    of replaced: Record, to items: inout [Extension.OwnedItem], of accessibility: Vault.Accessibility,
    atLeast count: UInt16, _ sealer: Sealer
  ) throws(VaultError) {
    guard replaced.accessibility.isThisDeviceOnly == accessibility.isThisDeviceOnly else { return }
    var added: [[UInt8]] = []
    if !replaced.isRemoved { added.append(try previousItem(of: replaced, class: accessibility, sealer)) }
    var fields = Extension.Items(replaced.extensionField)
    while let item = try fields.next() {
      guard item.tag == Extension.RecordTag.previous else { continue }
      added.append(try previousItem(try PreviousValue(item.data), of: replaced, class: accessibility, sealer))
    }
    guard let newest = added.first else { return }
    let isEarlier = { (item: Extension.OwnedItem) in item.tag == Extension.RecordTag.previous }
    let isDepth = { (item: Extension.OwnedItem) in item.tag == Extension.RecordTag.depth }
    let depth = max(items.first(where: isDepth)?.depth ?? 0, try replaced.historyDepth() ?? 0, count)
    var values: [UInt64: [UInt8]] = [:]
    for data in [newest] + items.filter(isEarlier).map(\.data) + added where values.count < depth {
      let revision: UInt64 = data.bytes.integer(at: 0)
      if values[revision] == nil { values[revision] = data }
    }
    items.removeAll { isEarlier($0) || isDepth($0) }
    items.append(.init(Extension.RecordTag.depth, [UInt8](littleEndian: depth)))
    for revision in values.keys.sorted(by: >) {
      if let data = values[revision] { items.append(.init(Extension.RecordTag.previous, data)) }
    }
  }
}

extension VaultError {
  static let noSuchRecord = VaultError(.notFound, "there is no such record")
  static let recordExists = VaultError(.alreadyExists, "a record with the new name exists")
}
