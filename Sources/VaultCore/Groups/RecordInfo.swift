/// The authenticated metadata of a record, without its value.
public struct RecordInfo: Sendable {
  /// The service of the record: the application that uses it.
  public let service: Vault.Name
  /// The key of the record within its service.
  public let key: Vault.Name
  /// The kind of its value.
  public let kind: ValueKind
  /// When its value can be read.
  public let accessibility: Vault.Accessibility
  /// The generation of the group in which the record was last changed. It increases with each change.
  public let revision: UInt64
  /// Milliseconds since 1970-01-01 UTC, as the writer's clock said.
  public let created: Int64
  /// Milliseconds since 1970-01-01 UTC, as the writer's clock said.
  public let modified: Int64
  /// The earlier values that the record keeps, newest first; empty unless a history depth was set.
  public let previous: [Previous]
  /// The extension items of the record, without the earlier values (`Docs/Format.md` 3.8).
  public let extensionItems: [(tag: UInt16, data: [UInt8])]

  /// An earlier value that the record keeps.
  public struct Previous: Sendable {
    /// The revision of the record while this was its value.
    public let revision: UInt64
    /// Milliseconds since 1970-01-01 UTC.
    public let modified: Int64
    /// The kind of the value.
    public let kind: ValueKind
  }

  /// The metadata of a removed record, which has no value of its own.
  package init(of removed: RemovedRecord) {
    service = removed.service
    key = removed.key
    kind = .data
    accessibility = removed.accessibility
    revision = removed.revision
    created = removed.created
    modified = removed.removed
    previous = removed.previous
    extensionItems = removed.extensionItems
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
    var fields = Extension.Items(record.extensionField)
    while let item = try fields.next() {
      if item.tag == Extension.RecordTag.previous {
        let value = try PreviousValue(item.data)
        previous.append(
          Previous(revision: value.revision, modified: value.modified, kind: ValueKind(rawValue: value.kind)))
      } else {
        items.append((item.tag, item.data.copy))
      }
    }
    self.previous = previous
    extensionItems = items
  }
}
