/// A change of a record's metadata (`Docs/Format.md` 3.8), which is sealed with the record and can be read without
/// opening the value.
public struct RecordEdit: Sendable {
  /// The change of one field.
  public enum Field<Value: Sendable>: Sendable {
    /// The field does not change.
    case keep
    /// The field gets a new value.
    case set(Value)
    /// The record no longer has the field.
    case remove
  }

  /// An application's own attribute.
  public struct Attribute: Sendable, Hashable {
    /// The name of the attribute.
    public let name: Vault.Name
    /// The value of the attribute: any bytes.
    public let data: [UInt8]

    /// Creates an attribute.
    /// - Throws: ``VaultError/Code/invalidName``.
    public init(_ name: String, _ data: [UInt8]) throws(VaultError) {
      self.name = try Vault.Name(name)
      self.data = data
    }

    init(name: Vault.Name, data: [UInt8]) {
      self.name = name
      self.data = data
    }
  }

  /// The label of the record.
  public var label = Field<String>.keep
  /// The comment of the record.
  public var comment = Field<String>.keep
  /// The time after which the value should not be used, in milliseconds since 1970-01-01 UTC. Setting a new value
  /// removes the expiry unless the edit sets it again.
  public var expiry = Field<Int64>.keep
  /// All attributes, in order.
  public var attributes = Field<[Attribute]>.keep
  /// The number of earlier values to keep; 0 unless it was set. A lower number removes the oldest ones.
  public var historyDepth = Field<UInt16>.keep
  /// Whether a value that the change replaces becomes an earlier one, if the record keeps any. `false` for a value that
  /// changes by itself, such as a counter.
  public var keepsReplacedValue = true
  /// The history depth that a new value gives to a record without one; `nil` gives it none.
  var defaultHistoryDepth: UInt16?
  /// Whether a record that is replaced keeps at least its own history depth, or the default one: a copy of a record has
  /// the depth of its source, which says nothing about the values of the record that it replaces.
  package var keepsReplacedDepth = false

  /// Creates an edit that changes nothing.
  public init() {}

  /// Creates an edit that gives a record the label, the comment, the expiry and the attributes of `record`, and removes
  /// those that `record` does not have.
  package init(metadataOf record: RecordInfo) {
    label = record.label.map(Field.set) ?? .remove
    comment = record.comment.map(Field.set) ?? .remove
    expiry = record.expiry.map(Field.set) ?? .remove
    attributes = record.attributes.isEmpty ? .remove : .set(record.attributes)
  }

  /// Combines an earlier edit with this one.
  /// - Parameter hasNewValue: whether a new value is set between them, which removes the expiry of the earlier edit.
  func behind(_ earlier: RecordEdit, hasNewValue: Bool = false) -> RecordEdit {
    var both = earlier
    if hasNewValue { both.expiry = .keep }
    if case .keep = label {} else { both.label = label }
    if case .keep = comment {} else { both.comment = comment }
    if case .keep = expiry {} else { both.expiry = expiry }
    if case .keep = attributes {} else { both.attributes = attributes }
    if case .keep = historyDepth {} else { both.historyDepth = historyDepth }
    both.keepsReplacedValue = keepsReplacedValue
    both.defaultHistoryDepth = defaultHistoryDepth ?? both.defaultHistoryDepth
    both.keepsReplacedDepth = keepsReplacedDepth || both.keepsReplacedDepth
    return both
  }

  /// The maximum length of label, comment and attributes together, in bytes.
  static let longest = 1 << 16

  /// The tags whose present items are replaced or removed.
  var replacedTags: Set<UInt16> {
    var tags: Set<UInt16> = []
    if case .keep = label {} else { tags.insert(Extension.RecordTag.label) }
    if case .keep = comment {} else { tags.insert(Extension.RecordTag.comment) }
    if case .keep = expiry {} else { tags.insert(Extension.RecordTag.expiry) }
    if case .keep = attributes {} else { tags.insert(Extension.RecordTag.attribute) }
    if case .keep = historyDepth {} else { tags.insert(Extension.RecordTag.depth) }
    return tags
  }

  /// The items that are set.
  var items: [Extension.OwnedItem] {
    var items: [Extension.OwnedItem] = []
    if case .set(let text) = label { items.append(.init(Extension.RecordTag.label, Array(text.utf8))) }
    if case .set(let text) = comment { items.append(.init(Extension.RecordTag.comment, Array(text.utf8))) }
    if case .set(let time) = expiry {
      items.append(.init(Extension.RecordTag.expiry, [UInt8](littleEndian: time)))
    }
    if case .set(let list) = attributes {
      for attribute in list {
        var writer = ByteWriter()
        writer.lp16(attribute.name.utf8)
        writer.raw(attribute.data)
        items.append(.init(Extension.RecordTag.attribute, writer.bytes))
      }
    }
    if case .set(let depth) = historyDepth {
      items.append(.init(Extension.RecordTag.depth, [UInt8](littleEndian: depth)))
    }
    return items
  }

  /// Refuses metadata that exceeds its limit.
  func check() throws(VaultError) {
    let count = items.reduce(0) { $0 + $1.data.count + Extension.itemHeadCount }
    guard count <= Self.longest else {
      throw VaultError(.valueTooLarge, "label, comment and attributes of \(count) bytes; the limit is \(Self.longest)")
    }
  }
}

extension RecordInfo {
  /// The label of the record; `nil` if it has none.
  public var label: String? { item(Extension.RecordTag.label).map { String(decoding: $0, as: UTF8.self) } }

  /// The comment of the record; `nil` if it has none.
  public var comment: String? { item(Extension.RecordTag.comment).map { String(decoding: $0, as: UTF8.self) } }

  /// The time after which the value should not be used, in milliseconds since 1970-01-01 UTC; `nil` for no expiry.
  public var expiry: Int64? {
    item(Extension.RecordTag.expiry).map { $0.bytes.integer(at: 0) }
  }

  /// The attributes that the application has set, in order.
  public var attributes: [RecordEdit.Attribute] {
    extensionItems.filter { $0.tag == Extension.RecordTag.attribute }.compactMap { item in
      let length = Int(item.data.bytes.integer(at: 0, UInt16.self))
      // The name was checked when the record was loaded.
      guard
        case .success(let name) = Result(catching: { () throws(VaultError) in
          try Vault.Name(verbatim: Array(item.data[2..<2 + length]))
        })
      else { return nil }
      return RecordEdit.Attribute(name: name, data: Array(item.data[(2 + length)...]))
    }
  }

  /// The number of earlier values that the record keeps; 0 unless it was set.
  public var historyDepth: UInt16 { storedHistoryDepth ?? 0 }

  /// The extension items of later versions of the format.
  package var unknownItems: [(tag: UInt16, data: [UInt8])] {
    extensionItems.filter { $0.tag == 0 || $0.tag > Extension.RecordTag.removal }
  }

  /// The history depth; `nil` if none was set.
  package var storedHistoryDepth: UInt16? { item(Extension.RecordTag.depth).map { $0.bytes.integer(at: 0) } }

  private func item(_ tag: UInt16) -> [UInt8]? { extensionItems.first { $0.tag == tag }?.data }
}
