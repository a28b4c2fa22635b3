internal import Preferences

/// Bitwarden's unencrypted export. An item becomes an entry, which is named by the item's name after its folder or, in
/// an export of an organisation, its collection.
struct BitwardenParser {
  /// What Bitwarden keeps about an item, and no user has typed.
  private static let bookkeeping: Set<String> = [
    "id", "organizationId", "type", "creationDate", "revisionDate", "key", "edit", "viewPassword", "permissions",
    "object", "login.passwordRevisionDate", "secureNote.type", "folderId",
  ]
  /// What a user has set about an item, and the value that it has otherwise.
  private static let settings = [
    "favorite": (name: "the mark as a favourite", initial: "false"),
    "reprompt": (name: "the question for the master password", initial: "0"),
    "archivedDate": (name: "the mark as archived", initial: ""),
  ]

  /// Whether the members are secrets of which Bitwarden knows what they are.
  private static let secrecy = ["login.username": false, "login.password": true, "login.totp": true]

  private struct Item {
    var name = ""
    var folder: String?
    var collections: [String] = []
    var url: Range<Int>?
    var fields: [PlainRecords.Field] = []
    /// Fields that the user added, by index.
    var names: [Int: String] = [:]
    var values: [(index: Int, bytes: Range<Int>)] = []
    var linked: [Int] = []
    var left = LeftParts()
    var isInTrash = false
    let line: Int

    init(line: Int) { self.line = line }
  }

  private let bytes: UnsafeMutableRawBufferPointer
  private var records = PlainRecords()
  private var ids: [String: [Int: String]] = [:]
  private var names: [String: [Int: String]] = [:]
  private var items: [Item] = []
  private var lastIndex: Int?

  static func records(of leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords
  {
    var parser = BitwardenParser(bytes: bytes)
    var others: Set<String> = []
    for leaf in GuardedJSONParser.decoded(leaves, in: bytes) {
      let path = leaf.path
      if path == [.name("encrypted")] {
        guard bytes[leaf.bytes].first != UInt8(ascii: "t") else {
          throw PlainFault(
            line: 0, reason: "this Bitwarden export is encrypted: export again, as .json and unencrypted")
        }
        continue
      }
      let list = path[0].text
      let isList = ["folders", "collections", "items"].contains(list)
      guard isList, path.count >= 3, case .index(let index) = path[1] else {
        // Each element that is none, and any other member once.
        let name = isList && path.count == 2 ? "\(list).\(path[1].text)" : list
        if leaf.kind != .array, leaf.kind != .null, others.insert(name).inserted {
          try parser.records.skip(name, "no item", line: leaf.line)
        }
        continue
      }
      switch (list, path[2].text) {
      case ("items", _): parser.add(leaf, path, toItem: index)
      case (_, "id") where hasValue(leaf): parser.ids[list, default: [:]][index] = leaf.cutName(in: bytes)
      case (_, "name") where hasValue(leaf): parser.names[list, default: [:]][index] = leaf.cutName(in: bytes)
      default: break
      }
    }
    return try parser.finished()
  }

  private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  private static func hasValue(_ leaf: JSONLeaf) -> Bool { [.text, .number, .bool].contains(leaf.kind) }

  private mutating func add(_ leaf: JSONLeaf, _ place: [JSONPosition.Component], toItem index: Int) {
    if lastIndex != index { items.append(Item(line: leaf.line)) }
    lastIndex = index
    guard Self.hasValue(leaf) else { return }
    let last = items.count - 1
    let path = place.dropFirst(2).map(\.text)
    switch (path[0], path.count) {
    case (_, 1) where Self.settings[path[0]] != nil:
      guard let setting = Self.settings[path[0]], !bytes[leaf.bytes].elementsEqual(setting.initial.utf8) else { return }
      items[last].left.add(setting.name)
    case ("deletedDate", 1): items[last].isInTrash = true
    case ("name", 1): items[last].name = PlainRecords.title(leaf.cutName(in: bytes))
    case ("folderId", 1): items[last].folder = leaf.cutName(in: bytes)
    case ("collectionIds", 1): items[last].left.add("collectionIds, which is no list")
    case ("collectionIds", 2): items[last].collections.append(leaf.cutName(in: bytes))
    case ("login", 4) where path[1] == "uris":
      switch path[3] {
      case "uri":
        if items[last].url == nil { items[last].url = leaf.bytes }
        items[last].fields.append(PlainRecords.Field("url", leaf.bytes, isSecret: false))
      case "match": items[last].left.add("how a URL is matched")
      case "uriChecksum": break
      default: items[last].fields.append(PlainRecords.Field("url.\(path[3])", leaf.bytes))
      }
    case ("login", 4...) where path[1] == "fido2Credentials": items[last].left.add("a passkey")
    case ("passwordHistory", _): items[last].left.add("earlier passwords")
    case ("attachments", _): items[last].left.add("an attachment")
    case ("fields", 3):
      guard case .index(let field) = place[3] else { return }
      switch path[2] {
      case "name": items[last].names[field] = leaf.cutName(in: bytes)
      case "value": items[last].values.append((field, leaf.bytes))
      case "linkedId": items[last].linked.append(field)
      case "type": break
      default: items[last].fields.append(PlainRecords.Field(path.joined(separator: "."), leaf.bytes))
      }
    default:
      guard !Self.bookkeeping.contains(path.joined(separator: ".")) else { return }
      // The parts of login, card, identity, sshKey and of types that are not known here.
      let name = path.count == 2 ? path[1] : path.joined(separator: ".")
      items[last].fields.append(
        PlainRecords.Field(name, leaf.bytes, isSecret: Self.secrecy[path.joined(separator: ".")]))
    }
  }

  private mutating func finished() throws(PlainFault) -> PlainRecords {
    let folders = paths("folders")
    let collections = paths("collections")
    for item in items {
      let places = item.collections.map { collections[$0] ?? $0 }.filter { !$0.isEmpty }
      let folder = item.folder.map { folders[$0] ?? $0 }.flatMap { $0.isEmpty ? nil : $0 } ?? places.first
      let name = item.name.isEmpty ? item.url.map { InputText.host(of: $0, in: bytes) } ?? "" : item.name
      let path = (folder.map { "\($0)/" } ?? "") + name
      guard !item.isInTrash else {
        try records.skip(path, "an item in the trash", line: item.line)
        continue
      }
      guard folder.map({ $0.utf8.count <= InputText.longestName }) ?? true else {
        try records.refuse(
          PlainFault(
            line: item.line, name: PlainRecords.shown(name),
            reason: "a folder whose name has more than \(InputText.longestName) bytes", isLimit: true))
        continue
      }
      let entry = PlainRecords.entryName(path)
      for left in item.left.all { try records.skip(entry, left, line: item.line) }
      for place in places where place != folder {
        try records.skip(entry, "the same item in the collection \(place)", line: item.line)
      }
      let shown = Set(item.values.map(\.index))
      for field in item.linked where !shown.contains(field) {
        try records.skip(
          "\(entry)/\(PlainRecords.Field.name(item.names[field]))", "a field that shows a different one",
          line: item.line)
      }
      let own = item.values.map { PlainRecords.Field(item.names[$0.index], $0.bytes) }
      try records.add(entry: path, item.fields + own, line: item.line)
    }
    return records
  }

  /// The names of folders or collections by their ids; empty for one without a name.
  private func paths(_ list: String) -> [String: String] {
    let names = names[list] ?? [:]
    return Dictionary((ids[list] ?? [:]).map { index, id in (id, names[index] ?? "") }) { first, _ in first }
  }
}
