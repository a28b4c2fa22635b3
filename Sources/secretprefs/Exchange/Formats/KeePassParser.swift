internal import Preferences

/// The XML that KeePassXC and KeePass export. An entry is named by its groups, except the
/// outermost one, and its title.
struct KeePassParser {
  private static let fieldNames = [
    "UserName": "username", "Password": "password", "URL": "url", "Notes": "notes", "otp": "totp",
  ]

  private var xml: GuardedXMLParser
  private var records = PlainRecords()
  private var entries: [KeePassEntry] = []
  private var fieldCount = 0
  private var recycleBin: Range<Int>?

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = KeePassParser(xml: GuardedXMLParser(bytes))
    try parser.file()
    try parser.addEntries(from: bytes)
    return parser.records
  }

  private init(xml: GuardedXMLParser) { self.xml = xml }

  private mutating func file() throws(PlainFault) {
    guard try xml.child() == "KeePassFile" else { throw xml.text.malformed("not an export of KeePass") }
    while let part = try xml.child() {
      switch part {
      case "Meta":
        while let fact = try xml.child() {
          if fact == "RecycleBinUUID" { recycleBin = try xml.content() } else { try xml.skip() }
        }
      case "Root":
        while let part = try xml.child() {
          if part == "Group" { try group(in: nil) } else { try xml.skip() }
        }
      default: try xml.skip()
      }
    }
    guard try xml.child() == nil else { throw xml.text.malformed("text behind the end") }
  }

  /// - Parameter path: the names of the groups around it, each with a slash; `nil` for the outermost group.
  private mutating func group(in path: String?) throws(PlainFault) {
    let line = xml.text.line
    var inner = ""
    while let part = try xml.child() {
      switch part {
      case "UUID":
        let id = try xml.content()
        guard let recycleBin, !id.isEmpty, xml.text.bytes[id].elementsEqual(xml.text.bytes[recycleBin]) else { break }
        try records.skip("", "the recycle bin", line: line)
        return try xml.skip()
      case "Name":
        let name = try xml.text.name(try xml.content())
        // Without a name it is no level, as a key has none.
        if let path { inner = name.isEmpty ? path : "\(path)\(name)/" }
        guard inner.utf8.count <= InputText.longestName else {
          throw .limit("group names of more than \(InputText.longestName) bytes", line: xml.text.line)
        }
      case "Entry": try entry(in: inner)
      case "Group": try group(in: inner)
      default: try xml.skip()
      }
    }
  }

  private mutating func entry(in path: String) throws(PlainFault) {
    guard entries.count < PlainRecords.most else {
      throw .tooMuch("more than \(PlainRecords.most) entries", line: xml.text.line)
    }
    var entry = KeePassEntry(line: xml.text.line)
    var title = ""
    while let part = try xml.child() {
      switch part {
      case "UUID":
        let id = try xml.content()
        entry.id = DecodedText.base64(id, in: xml.text.bytes) ?? 0..<0
      case "String":
        guard let (name, value) = try field() else {
          entry.isBad = true
          continue
        }
        if name == "Title" {
          do throws(PlainFault) { title = try xml.text.name(value) } catch {
            try records.refuse(error)
            entry.isBad = true
          }
        }
        entry.fields.append((name, value))
        fieldCount += 1
        guard fieldCount <= PlainRecords.most else {
          throw .tooMuch("more than \(PlainRecords.most) fields", line: xml.text.line)
        }
      case "Binary":
        entry.leave("an attachment")
        try xml.skip()
      case "Times":
        while let time = try xml.child() {
          guard time == "Expires" else {
            try xml.skip()
            continue
          }
          if xml.text.bytes[try xml.content()].elementsEqual("True".utf8) { entry.leave("the expiry time") }
        }
      case "History":
        while try xml.child() != nil {
          entry.leave("earlier versions")
          try xml.skip()
        }
      default: try xml.skip()
      }
    }
    if entry.isBad { return }
    entry.hasTitle = !title.isEmpty
    entry.place = path + title
    entries.append(entry)
  }

  private mutating func addEntries(from bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) {
    let references = KeePassReferences(entries, in: bytes)
    // A reference can put a password in the place of a user name.
    let names = ["UserName", "URL"]
    let shown = Set(entries.flatMap { $0.fields.filter { names.contains($0.name) }.map(\.bytes) })
    for entry in entries {
      for left in entry.left { try records.skip(entry.place, left, line: entry.line) }
      var found: [(name: String, bytes: Range<Int>)] = []
      for field in entry.fields where field.name != "Title" {
        do throws(KeePassReferences.Unresolved) { found.append((field.name, try references.value(of: field))) } catch {
          let name = Self.fieldNames[field.name] ?? field.name
          try records.skip("\(entry.place)/\(name)", error.reason, line: entry.line)
        }
      }
      if found.isEmpty, entry.fields.contains(where: { $0.name != "Title" && !$0.bytes.isEmpty }) { continue }
      var name = entry.place
      if !entry.hasTitle, let url = found.first(where: { $0.name == "URL" }) {
        name += InputText.host(of: url.bytes, in: bytes)
      }
      let codes = KeePassOneTime(taking: &found, in: bytes)
      let fields = found.map { field in
        PlainRecords.Field(
          Self.fieldNames[field.name] ?? field.name, field.bytes,
          isSecret: !names.contains(field.name) || !shown.contains(field.bytes))
      }
      try records.add(entry: name, fields + codes.values, line: entry.line)
    }
  }

  /// A field; `nil` if its name is bad.
  private mutating func field() throws(PlainFault) -> (name: String, value: Range<Int>)? {
    var (name, value, isBad) = ("", 0..<0, false)
    while let part = try xml.child() {
      switch part {
      case "Key":
        let key = try xml.content()
        do throws(PlainFault) { name = try xml.text.name(key) } catch {
          try records.refuse(error)
          isBad = true
        }
      case "Value":
        guard !xml.has(" Protected=\"True\"") else {
          throw xml.text.malformed("a protected value: export the database as XML, not encrypted")
        }
        value = try xml.content()
      default: try xml.skip()
      }
    }
    return isBad ? nil : (name.isEmpty ? "field" : name, value)
  }
}
