@testable import VaultCore

/// A record by section 3.6 of `Docs/Format.md`.
struct ReferenceRecord: Equatable {
  struct Name: Equatable, Comparable {
    let service, key: [UInt8]

    static func < (a: Name, b: Name) -> Bool {
      a.service == b.service
        ? a.key.lexicographicallyPrecedes(b.key) : a.service.lexicographicallyPrecedes(b.service)
    }
  }

  struct Item: Equatable {
    let tag: UInt16
    let data: [UInt8]
  }

  struct Previous: Equatable {
    let revision: UInt64
    let modified: Int64
    let kind: UInt8
  }

  let name: Name
  let kind, `class`: UInt8
  let created, modified: Int64
  let revision: UInt64
  let sealed, extensionField: [UInt8]
  /// All but the previous values.
  private(set) var items: [Item] = []
  private(set) var previous: [Previous] = []

  /// - Parameters:
  ///   - revisions: those that the record may have.
  ///   - last: the name before, which has to be lower.
  init(
    _ reader: inout ReferenceReader, revisions: ClosedRange<UInt64>, after last: Name?, limits: Vault.Limits
  ) throws(VaultError) {
    name = Name(service: try reader.name(), key: try reader.name())
    if let last, last >= name { throw .malformed("the order of records") }
    kind = UInt8(try reader.number(1))
    `class` = UInt8(try reader.number(1))
    let zero = try reader.number(2)
    created = Int64(bitPattern: try reader.number(8))
    modified = Int64(bitPattern: try reader.number(8))
    revision = try reader.number(8)
    guard kind != 0, `class` <= 3, zero == 0, revisions.contains(revision) else { throw .malformed("a record") }
    let overhead = `class` < 2 ? 72 : 144
    sealed = try reader.counted(4)
    guard sealed.count >= overhead || sealed.count == 72 else { throw .malformed("a sealed value") }
    guard sealed.count <= limits.valueBytes + overhead else { throw VaultError(.limitExceeded, "a value") }
    extensionField = try reader.counted(4)
    try readItems()
    guard isRemoved ? kind == 2 && sealed.count == 72 : sealed.count >= overhead else { throw .malformed("a value") }
  }

  /// Whether it is removed and kept: tag 7.
  var isRemoved: Bool { items.contains { $0.tag == 7 } }

  /// Section 3.8, from left to right.
  private mutating func readItems() throws(VaultError) {
    try ReferenceReader.items(extensionField) { (tag, data) throws(VaultError) in
      if [1, 2, 3, 6, 7].contains(tag), items.last?.tag == tag { throw .malformed("a repetition") }
      switch tag {
      case 1, 2: guard String(validating: data, as: UTF8.self) != nil else { throw .malformed("text") }
      case 3: guard data.count == 8 else { throw .malformed("an expiry") }
      case 4:
        var reader = ReferenceReader(data)
        _ = try reader.name()
      case 5: try readPrevious(data)
      case 6: guard data.count == 2 else { throw .malformed("a depth") }
      case 7: guard data.count == 16 else { throw .malformed("a removal") }
      default: break
      }
      if tag != 5 { items.append(Item(tag: tag, data: data)) }
    }
  }

  private mutating func readPrevious(_ data: [UInt8]) throws(VaultError) {
    var reader = ReferenceReader(data)
    let value = Previous(
      revision: try reader.number(8), modified: Int64(bitPattern: try reader.number(8)),
      kind: UInt8(try reader.number(1)))
    let sealed = try reader.counted(4)
    try reader.finish()
    guard value.kind != 0, sealed.count >= 72, value.revision < previous.last?.revision ?? revision else {
      throw .malformed("a previous value")
    }
    previous.append(value)
  }
}
