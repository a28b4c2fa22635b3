@testable import VaultCore

/// A group's section and entries by sections 3.6 and 3.7 of `Docs/Format.md`: a sorted list of records.
struct ReferenceGroup {
  private(set) var generation: UInt64
  let baseGeneration: UInt64
  let baseTag, name: [UInt8]
  private(set) var extensionField: [UInt8]
  private(set) var records: [ReferenceRecord] = []
  private let limits: Vault.Limits

  /// Reads the body of a section.
  init(_ body: [UInt8], limits: Vault.Limits) throws(VaultError) {
    self.limits = limits
    var reader = ReferenceReader(body)
    generation = try reader.generation()
    baseGeneration = try reader.generation()
    baseTag = try reader.take(32)
    name = try reader.name()
    // The shortest record: names of one byte, 28 bytes, a sealed value of 72, no extension.
    for _ in 0..<(try reader.count(4, upTo: limits.records, least: 114)) {
      records.append(
        try ReferenceRecord(&reader, revisions: 1...generation, after: records.last?.name, limits: limits))
    }
    extensionField = try reader.counted(4)
    try readItems()
    try reader.finish()
  }

  static let epoch: UInt32 = 9

  /// Annex F: a policy, a limit and a number of days, then keys of 104 bytes, each behind its epoch.
  private func readItems() throws(VaultError) {
    var isRead = false
    try ReferenceReader.items(extensionField) { (tag, data) throws(VaultError) in
      guard tag == 1024 else { return }
      guard !isRead else { throw .malformed("a second log item") }
      isRead = true
      var (reader, last) = (ReferenceReader(data), UInt64(0))
      _ = try reader.take(9)
      while !reader.rest.isEmpty {
        let epoch = try reader.number(4)
        guard epoch > last, epoch < Self.epoch else { throw .malformed("the order of a log's keys") }
        last = epoch
        _ = try reader.take(104)
      }
    }
  }

  /// The extension field with another policy in its log item, or with a new one.
  private func field(policy: UInt8) throws(VaultError) -> [UInt8] {
    var log = [policy] + [UInt8](repeating: 0, count: 8)
    var (before, behind): ([UInt8], [UInt8]) = ([], [])
    try ReferenceReader.items(extensionField) { (tag, data) throws(VaultError) in
      if tag < 1024 { before += Self.item(tag, data) }
      if tag == 1024 { log = [policy] + data.dropFirst() }
      if tag > 1024 { behind += Self.item(tag, data) }
    }
    return before + Self.item(1024, log) + behind
  }

  private static func item(_ tag: UInt16, _ data: [UInt8]) -> [UInt8] {
    var bytes = [UInt8(tag & 255), UInt8(tag >> 8)]
    for shift in [0, 8, 16, 24] { bytes.append(UInt8(data.count >> shift & 255)) }
    return bytes + data
  }

  /// Reads the body of the entry that follows and makes its changes; leaves all as it is when it refuses them.
  mutating func apply(_ body: [UInt8]) throws(VaultError) {
    var reader = ReferenceReader(body)
    let next = try reader.generation()
    guard next == generation + 1 else { throw .malformed("the generation") }
    // The shortest change: a removal of names of one byte.
    var count = try reader.number(4)
    guard count >= 1 else { throw .malformed("no changes") }
    var field = extensionField
    if reader.rest.first == 3 {
      _ = try reader.number(1)
      field = try self.field(policy: UInt8(try reader.number(1)))
      count -= 1
    }
    guard count <= reader.rest.count / 7 else { throw .malformed("a count") }
    var (changed, last) = (records, ReferenceRecord.Name?.none)
    for _ in 0..<count {
      let name: ReferenceRecord.Name
      switch try reader.number(1) {
      case 1:
        let record = try ReferenceRecord(&reader, revisions: next...next, after: last, limits: limits)
        name = record.name
        changed.removeAll { $0.name == name }
        changed.append(record)
      case 2:
        name = .init(service: try reader.name(), key: try reader.name())
        if let last, last >= name { throw .malformed("the order of changes") }
        guard records.contains(where: { $0.name == name }) else { throw .malformed("a removal of nothing") }
        changed.removeAll { $0.name == name }
      default: throw .malformed("an unknown change")
      }
      last = name
    }
    try reader.finish()
    guard changed.count <= limits.records else { throw VaultError(.limitExceeded, "records") }
    records = changed.sorted { $0.name < $1.name }
    extensionField = field
    generation = next
  }

  /// Requires a parsed group to hold the same content.
  func compare(with content: GroupContent) throws {
    try demand(content.generation == generation, "the generation")
    try demand(content.baseGeneration == baseGeneration, "the base generation")
    try demand(content.baseTag.withSpan { $0.copy } == baseTag, "the base tag")
    try demand(content.name.utf8 == name, "the group's name")
    try demand(content.extensionField == extensionField, "the section's extension field")
    try demand(content.storedCount == records.count, "the number of records")
    try demand(content.removedCount == records.count(where: \.isRemoved), "the number of removed records")
    var stored: [Record] = []
    content.forEachStored { stored.append($0) }
    try demand(stored.count == records.count, "the number of listed records")
    var present = 0
    content.forEachInOrder { _ in present += 1 }
    try demand(present == content.recordCount, "the number of records that reads find")
    for (record, expected) in zip(stored, records) {
      try Self.compare(record, expected)
      let found = content.find(record.name)
      if expected.isRemoved {
        try demand(found == nil, "a removed record is found")
      } else {
        try demand(found?.bytes.copy == record.bytes.copy, "a record is not found, or another one")
      }
    }
  }

  private static func compare(_ record: Record, _ expected: ReferenceRecord) throws {
    try demand(record.name.service.copy == expected.name.service, "a service, or the order")
    try demand(record.name.key.copy == expected.name.key, "a key, or the order")
    try demand(record.sealedValue.copy.elementsEqual(expected.sealed), "a sealed value")
    try demand(record.extensionField.copy.elementsEqual(expected.extensionField), "a record's extension field")
    let info = try RecordInfo(record)
    try demand(info.kind.rawValue == expected.kind, "a kind")
    try demand(info.accessibility.rawValue == expected.class, "a class")
    try demand((info.created, info.modified) == (expected.created, expected.modified), "a time")
    try demand(info.revision == expected.revision, "a revision")
    try demand(try record.expiry() == info.expiry, "an expiry")
    try demand((try RemovedRecord(record) != nil) == expected.isRemoved, "a removal")
    let items = info.extensionItems.map { ReferenceRecord.Item(tag: $0.tag, data: $0.data) }
    try demand(items == expected.items, "extension items")
    try demand(info.attributes.count == items.count { $0.tag == 4 }, "attributes")
    let previous = info.previous.map {
      ReferenceRecord.Previous(revision: $0.revision, modified: $0.modified, kind: $0.kind.rawValue)
    }
    try demand(previous == expected.previous, "previous values")
  }
}
