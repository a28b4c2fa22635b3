internal import VaultSealing

/// Extension fields (`Docs/Format.md` 3.8): items `tag ‖ LP32(data)`, tags ascending. Unknown tags are kept.
enum Extension {
  /// The tags of records that this version knows.
  enum RecordTag {
    static let label: UInt16 = 1
    static let comment: UInt16 = 2
    static let expiry: UInt16 = 3
    static let attribute: UInt16 = 4
    static let previous: UInt16 = 5
    static let depth: UInt16 = 6
    static let removal: UInt16 = 7
  }

  struct Item: ~Escapable {
    let tag: UInt16
    let data: RawSpan

    @_lifetime(copy data)
    init(tag: UInt16, data: RawSpan) {
      self.tag = tag
      self.data = data
    }
  }

  /// An item that owns its bytes.
  struct OwnedItem {
    let tag: UInt16
    fileprivate(set) var data: [UInt8]
    init(_ tag: UInt16, _ data: [UInt8]) {
      self.tag = tag
      self.data = data
    }

    /// The history depth that the item holds.
    var depth: UInt16 { data.bytes.integer(at: 0) }
  }

  /// The length of an item before its data: tag and data length.
  static let itemHeadCount = 6

  /// The items of a field from left to right.
  struct Items: ~Escapable {
    private var reader: ByteReader
    private var last: UInt16 = 0

    @_lifetime(copy field)
    init(_ field: RawSpan) { reader = ByteReader(field) }

    /// The next item; `nil` at the end.
    @_lifetime(copy self)
    mutating func next() throws(VaultError) -> Item? {
      guard reader.remaining > 0 else { return nil }
      let tag = try reader.integer(UInt16.self)
      guard tag >= last else { throw .malformed("the order of an extension field") }
      last = tag
      return Item(tag: tag, data: try reader.lp32())
    }
  }

  /// A field of `items`; items with the same tag keep their order.
  static func field(_ items: [OwnedItem]) -> [UInt8] {
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(items.reduce(0) { $0 + $1.data.count + itemHeadCount })
    for item in items.sorted(by: { $0.tag < $1.tag }) {
      writer.integer(item.tag)
      writer.lp32(item.data)
    }
    return writer.bytes
  }

  /// As ``field(_:)``, and wipes the items, for the field of a record. The caller wipes the field.
  static func field(wiping items: inout [OwnedItem]) -> [UInt8] {
    defer { for index in items.indices { items[index].data.wipe() } }
    return field(items)
  }

  /// Checks that a field parses.
  static func check(_ field: RawSpan) throws(VaultError) {
    var items = Items(field)
    while try items.next() != nil {}
  }

  /// The data of the item with `tag`, which may occur only once; `nil` if there is none.
  static func sole(_ tag: UInt16, in field: RawSpan) throws(VaultError) -> [UInt8]? {
    var found: [UInt8]?
    var items = Items(field)
    while let item = try items.next() {
      guard item.tag == tag else { continue }
      guard found == nil else { throw .malformed("an extension item that occurs twice") }
      found = item.data.copy
    }
    return found
  }

  /// Whether an item has `tag`.
  static func contains(_ tag: UInt16, in field: RawSpan) throws(VaultError) -> Bool {
    var isThere = false
    var items = Items(field)
    while let item = try items.next() { if item.tag == tag { isThere = true } }
    return isThere
  }

  /// The field with `data` as its only item with `tag`, or without such an item.
  static func replacing(_ tag: UInt16, in field: [UInt8], with data: [UInt8]?) throws(VaultError) -> [UInt8] {
    var kept: [OwnedItem] = []
    var items = Items(field.bytes)
    while let item = try items.next() {
      if item.tag != tag { kept.append(OwnedItem(item.tag, item.data.copy)) }
    }
    if let data { kept.append(OwnedItem(tag, data)) }
    return Self.field(kept)
  }

  /// Checks the known tags of a record with this revision.
  /// - Returns: whether the record is removed.
  @discardableResult
  static func checkRecord(_ field: RawSpan, revision: UInt64) throws(VaultError) -> Bool {
    var isRemoved = false
    var last: UInt16?
    var bound = revision
    var items = Items(field)
    while let item = try items.next() {
      switch item.tag {
      case RecordTag.label, RecordTag.comment:
        guard item.tag != last, isUTF8(item.data) else { throw .malformed("a label or comment") }
      case RecordTag.expiry:
        guard item.tag != last, item.data.byteCount == 8 else { throw .malformed("an expiry") }
      case RecordTag.attribute:
        var reader = ByteReader(item.data)
        _ = try reader.name()
      case RecordTag.previous:
        let previous = try PreviousValue(item.data)
        guard previous.revision < bound else { throw .malformed("the order of previous values") }
        bound = previous.revision
      case RecordTag.depth:
        guard item.tag != last, item.data.byteCount == 2 else { throw .malformed("a history depth") }
      case RecordTag.removal:
        guard item.tag != last, item.data.byteCount == Removal.byteCount else { throw .malformed("a removal") }
        isRemoved = true
      default: break
      }
      last = item.tag
    }
    return isRemoved
  }
}

/// One earlier value that a record keeps: extension tag 5.
struct PreviousValue: ~Escapable {
  let revision: UInt64
  let modified: Int64
  let kind: UInt8
  let sealed: RawSpan

  @_lifetime(copy data)
  init(_ data: RawSpan) throws(VaultError) {
    var reader = ByteReader(data)
    revision = try reader.integer()
    modified = try reader.integer()
    kind = try reader.integer()
    sealed = try reader.lp32()
    guard kind != 0, sealed.byteCount >= Sealer.overhead else { throw .malformed("a previous value") }
    try reader.finish()
  }

  /// The data of the extension item.
  static func item(revision: UInt64, modified: Int64, kind: UInt8, sealed: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(revision)
    writer.integer(modified)
    writer.integer(kind)
    writer.lp32(sealed)
    return writer.bytes
  }
}
