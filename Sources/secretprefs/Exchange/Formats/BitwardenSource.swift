internal import Preferences

/// Bitwarden's unencrypted export. An item becomes an entry, which is named by the item's folder and name.
struct BitwardenSource {
  private struct Item {
    var name = ""
    var folder = ""
    var fields: [(name: String, bytes: Range<Int>)] = []
    /// Fields that the user added, by index.
    var names: [Int: String] = [:]
    var values: [(index: Int, bytes: Range<Int>)] = []
    var left: [String] = []
    let line: Int
  }

  private let bytes: UnsafeMutableRawBufferPointer
  private var folderIDs: [Int: String] = [:]
  private var folderNames: [Int: String] = [:]
  private var items: [Item] = []
  private var lastIndex: Int?

  static func records(of leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer) throws -> PlainRecords {
    var source = BitwardenSource(bytes: bytes)
    for leaf in leaves {
      let path = leaf.path
      if path == [.name("encrypted")], bytes[leaf.bytes].first == UInt8(ascii: "t") {
        throw ToolError.usage(
          "this Bitwarden export is encrypted", hint: "export again, in the format .json instead of .json (Encrypted)")
      }
      guard leaf.kind == .text, path.count >= 3, case .index(let index) = path[1] else { continue }
      switch (path[0].text, path[2].text) {
      case ("folders", "id"): source.folderIDs[index] = try leaf.name(in: bytes)
      case ("folders", "name"): source.folderNames[index] = try leaf.name(in: bytes)
      case ("items", _): try source.add(leaf, path, toItem: index)
      default: break
      }
    }
    return try source.records()
  }

  private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  private mutating func add(
    _ leaf: JSONLeaf, _ place: [JSONPlace.Component], toItem index: Int
  ) throws(PreferencesError) {
    if lastIndex != index { items.append(Item(line: leaf.line)) }
    lastIndex = index
    let path = place.dropFirst(2).map(\.text)
    let last = items.count - 1
    switch (path[0], path.count) {
    case ("name", 1): items[last].name = try leaf.name(in: bytes)
    case ("folderId", 1): items[last].folder = try leaf.name(in: bytes)
    case ("notes", 1): items[last].fields.append(("notes", leaf.bytes))
    case ("login", 2), ("card", 2), ("identity", 2), ("sshKey", 2):
      if path[1] != "passwordRevisionDate" { items[last].fields.append((path[1], leaf.bytes)) }
    case ("login", 4) where path[1] == "uris" && path[3] == "uri": items[last].fields.append(("url", leaf.bytes))
    case ("login", 4) where path[1] == "fido2Credentials":
      if items[last].left.last != "a passkey" { items[last].left.append("a passkey") }
    case ("passwordHistory", _):
      if items[last].left.last != "earlier passwords" { items[last].left.append("earlier passwords") }
    case ("fields", 3):
      guard case .index(let field) = place[3] else { break }
      if path[2] == "name" { items[last].names[field] = try leaf.name(in: bytes) }
      if path[2] == "value" { items[last].values.append((field, leaf.bytes)) }
    default: break
    }
  }

  private func records() throws(PreferencesError) -> PlainRecords {
    let folders = Dictionary(
      folderIDs.compactMap { index, id in folderNames[index].map { (id, $0) } }, uniquingKeysWith: { first, _ in first }
    )
    var records = PlainRecords()
    for item in items {
      let name = (folders[item.folder].map { "\($0)/" } ?? "") + item.name
      for left in item.left { try records.skip(name, left, line: item.line) }
      let own = item.values.map { (name: item.names[$0.index] ?? "field", bytes: $0.bytes) }
      try records.add(entry: item.name.isEmpty ? "" : name, item.fields + own, line: item.line)
    }
    return records
  }
}
