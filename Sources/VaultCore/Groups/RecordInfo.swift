/// What is known of a record without opening its value. All of it is authenticated.
public struct RecordInfo: Sendable {
  /// The application the record belongs to.
  public let service: Vault.Name
  /// What the record is asked for by, within its service.
  public let key: Vault.Name
  /// What its value is.
  public let kind: ValueKind
  /// When its value can be read.
  public let accessibility: Vault.Accessibility
  /// The group generation of the write that last changed the record.
  public let revision: UInt64
  /// Milliseconds since 1970-01-01 UTC, as the writer's clock said.
  public let created: Int64
  /// Milliseconds since 1970-01-01 UTC, as the writer's clock said.
  public let modified: Int64
  /// The kept earlier values, newest first; empty unless a history was asked for.
  public let previous: [Previous]
  /// Extension items as they stand in the record, without the previous values (`Docs/Format.md` 3.8).
  public let extensionItems: [(tag: UInt16, data: [UInt8])]

  /// An earlier value that the record keeps.
  public struct Previous: Sendable {
    /// The revision the record had while this was its value.
    public let revision: UInt64
    /// Milliseconds since 1970-01-01 UTC.
    public let modified: Int64
    /// What the value is.
    public let kind: ValueKind
  }

  init(_ record: Record) throws(VaultError) {
    service = try Vault.Name(verbatim: record.name.service.copy)
    key = try Vault.Name(verbatim: record.name.key.copy)
    kind = ValueKind(rawValue: record.kind)
    accessibility = record.accessibility
    revision = record.revision
    created = record.created
    modified = record.modified
    var previous: [Previous] = []
    var items: [(tag: UInt16, data: [UInt8])] = []
    try Extension.forEach(record.extensionField) { (item) throws(VaultError) in
      if item.tag == Extension.RecordTag.previous {
        let value = try PreviousValue(item.data)
        previous.append(
          Previous(revision: value.revision, modified: value.modified, kind: ValueKind(rawValue: value.kind)))
      } else {
        items.append((item.tag, Array(item.data)))
      }
    }
    self.previous = previous
    extensionItems = items
  }
}
