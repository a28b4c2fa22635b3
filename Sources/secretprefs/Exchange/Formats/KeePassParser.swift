internal import Preferences

/// The XML that KeePassXC and KeePass export. An entry is named by its groups, except the
/// outermost one, and its title.
struct KeePassParser {
  private static let fieldNames = [
    "UserName": "username", "Password": "password", "URL": "url", "Notes": "notes", "otp": "totp",
  ]
  /// The elements of entries, groups and their auto-type that no user has typed: icons, colours, ids, and settings that
  /// are chosen from a few.
  private static let bookkeeping: Set<String> = [
    "UUID", "IconID", "CustomIconUUID", "ForegroundColor", "BackgroundColor", "QualityCheck", "PreviousParentGroup",
    "IsExpanded", "EnableAutoType", "EnableSearching", "LastTopVisibleEntry", "Enabled", "DataTransferObfuscation",
  ]
  private static let leftNames = [
    "Notes": "the notes", "Tags": "the tags", "CustomData": "custom data", "DefaultAutoTypeSequence": "auto-type",
  ]

  private var xml: GuardedXMLParser
  private var records = PlainRecords()
  private var entries: [KeePassEntry] = []
  private var fieldCount = 0
  private var recycleBin: Range<Int>?
  /// The values that the user has marked as protected, so that they are secret in any field.
  private var protected: Set<Range<Int>> = []

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = KeePassParser(xml: GuardedXMLParser(bytes))
    try parser.file()
    try parser.addEntries(from: bytes)
    return parser.records
  }

  private init(xml: GuardedXMLParser) { self.xml = xml }

  private mutating func file() throws(PlainFault) {
    guard try xml.child() == "KeePassFile" else { throw xml.text.malformed("not an export of KeePass") }
    var hasRoot = false
    while let part = try xml.child() {
      // It says which group is the recycle bin.
      guard !hasRoot || part != "Meta" else { throw xml.text.malformed("the element Meta behind Root") }
      hasRoot = hasRoot || part == "Root"
      switch part {
      case "Meta":
        while let fact = try xml.child() {
          if fact == "RecycleBinUUID" { recycleBin = try xml.content() } else { try xml.skip() }
        }
      case "Root":
        while let part = try xml.child() {
          switch part {
          case "Group": try group(in: nil)
          case "Entry": try entry(in: "")
          // The ids of what was deleted.
          case "DeletedObjects": try xml.skip()
          default:
            let line = xml.text.line
            if try xml.skip() { try records.skip("", "the element \(part)", line: line) }
          }
        }
      default: try xml.skip()
      }
    }
    guard try xml.child() == nil else { throw xml.text.malformed("text behind the end") }
  }

  private static func isTooLong(_ path: String) -> Bool { path.utf8.count > InputText.longestName }

  /// - Parameter path: the names of the groups around it, each with a slash; `nil` for the outermost group. One that is
  ///   too long does not grow further.
  private mutating func group(in path: String?) throws(PlainFault) {
    let line = xml.text.line
    var inner = ""
    var left = LeftParts()
    var hasEntries = false
    while let part = try xml.child() {
      // The entries were read without it: under a wrong name, or in spite of the recycle bin.
      guard !hasEntries || !["UUID", "Name"].contains(part) else {
        throw xml.text.malformed("the element \(part) of a group behind its entries")
      }
      hasEntries = hasEntries || ["Entry", "Group"].contains(part)
      switch part {
      case "UUID":
        let id = try xml.content()
        guard let recycleBin, !id.isEmpty, xml.text.bytes[id].elementsEqual(xml.text.bytes[recycleBin]) else { break }
        try records.skip("", "the recycle bin", line: line)
        try xml.skip()
        return
      case "Name":
        let name = try xml.text.cutName(try xml.content())
        // Without a name it is no level, as a key has none.
        if let path { inner = name.isEmpty || Self.isTooLong(path) ? path : "\(path)\(name)/" }
      case "Entry": try entry(in: inner)
      case "Group": try group(in: inner)
      case "Times": if try expires() { left.add("the expiry time of the group") }
      default: try skip(part, of: "the group", into: &left)
      }
    }
    for part in left.all { try records.skip(String(inner.dropLast()), part, line: line) }
  }

  /// Skips an element of an entry or a group, which is left out if it has something that a user has entered.
  private mutating func skip(_ part: String, of owner: String, into left: inout LeftParts) throws(PlainFault) {
    guard try xml.skip(), !Self.bookkeeping.contains(part) else { return }
    try countField()
    left.add("\(Self.leftNames[part] ?? "the element \(part)") of \(owner)")
  }

  /// Reads the times of an entry or a group, and returns whether it expires.
  private mutating func expires() throws(PlainFault) -> Bool {
    var expires = false
    while let time = try xml.child() {
      if time == "Expires" {
        expires = xml.text.bytes[try xml.content()].elementsEqual("True".utf8)
      } else {
        try xml.skip()
      }
    }
    return expires
  }

  private mutating func countField() throws(PlainFault) {
    fieldCount += 1
    guard fieldCount <= PlainRecords.most else {
      throw .tooMuch("more than \(PlainRecords.most) fields", line: xml.text.line)
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
        guard let (name, value) = try field(of: &entry) else { continue }
        if name == "Title" {
          do throws(PlainFault) { title = PlainRecords.title(try xml.text.cutName(value)) } catch {
            entry.fault = error
          }
        }
        entry.fields.append((name, value))
        try countField()
      case "Tags", "OverrideURL":
        entry.fields.append((part == "Tags" ? "tags" : "override-url", try xml.content()))
        try countField()
      case "AutoType":
        while let setting = try xml.child() {
          let isEntered = try xml.skip() && !Self.bookkeeping.contains(setting)
          if isEntered { entry.left.add("auto-type") }
        }
      case "Binary":
        entry.left.add("an attachment")
        try xml.skip()
      case "Times": if try expires() { entry.left.add("the expiry time") }
      case "History":
        while try xml.child() != nil {
          entry.left.add("earlier versions")
          try xml.skip()
        }
      default: try skip(part, of: "the entry", into: &entry.left)
      }
    }
    guard !Self.isTooLong(path) else {
      let reason = "groups whose names have more than \(InputText.longestName) bytes"
      return try records.refuse(
        PlainFault(line: entry.line, name: PlainRecords.shown(title), reason: reason, isLimit: true))
    }
    entry.hasTitle = !title.isEmpty
    entry.place = path + title
    if let fault = entry.fault {
      return try records.refuse(
        PlainFault(line: entry.line, name: PlainRecords.shown(entry.place), reason: fault.reason))
    }
    entries.append(entry)
  }

  private mutating func addEntries(from bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) {
    let references = KeePassReferences(entries, in: bytes)
    // A reference can put a password in the place of a user name.
    let names = ["UserName", "URL"]
    let plain = Set(entries.flatMap { $0.fields.filter { names.contains($0.name) }.map(\.bytes) })
      .subtracting(protected)
    for entry in entries {
      var found: [(name: String, bytes: Range<Int>)] = []
      var unresolved: [(name: String, reason: String)] = []
      for field in entry.fields where field.name != "Title" {
        do throws(KeePassReferences.Unresolved) { found.append((field.name, try references.value(of: field))) } catch {
          unresolved.append((Self.fieldNames[field.name] ?? field.name, error.reason))
        }
      }
      var name = entry.place
      if !entry.hasTitle, let url = found.first(where: { $0.name == "URL" }) {
        name += InputText.host(of: url.bytes, in: bytes)
      }
      let shown = PlainRecords.entryName(name)
      for left in entry.left.all { try records.skip(shown, left, line: entry.line) }
      for field in unresolved { try records.skip("\(shown)/\(field.name)", field.reason, line: entry.line) }
      if found.isEmpty, entry.fields.contains(where: { $0.name != "Title" && !$0.bytes.isEmpty }) { continue }
      let codes = KeePassOneTime(taking: &found, in: bytes)
      for left in codes.left { try records.skip(shown, left, line: entry.line) }
      let fields = found.map { field in
        PlainRecords.Field(
          Self.fieldNames[field.name] ?? field.name, field.bytes,
          isSecret: names.contains(field.name) ? !plain.contains(field.bytes) : isSecret(field))
      }
      try records.add(entry: name, fields + codes.values, line: entry.line)
    }
  }

  /// Whether a field other than a user name or URL is a secret; `nil` if the file does not say.
  private func isSecret(_ field: (name: String, bytes: Range<Int>)) -> Bool? {
    ["Password", "otp"].contains(field.name) || protected.contains(field.bytes) ? true : nil
  }

  /// A field; `nil` if its name is bad.
  private mutating func field(
    of entry: inout KeePassEntry
  ) throws(PlainFault) -> (name: String, value: Range<Int>)? {
    var (name, value, isBad) = ("", 0..<0, false)
    while let part = try xml.child() {
      switch part {
      case "Key":
        let key = try xml.content()
        do throws(PlainFault) { name = try xml.text.cutName(key) } catch {
          entry.fault = error
          isBad = true
        }
      case "Value":
        guard !xml.isTrue("Protected") else {
          throw xml.text.malformed("a protected value: export the database as XML, not encrypted")
        }
        let isProtected = xml.isTrue("ProtectInMemory")
        value = try xml.content()
        if isProtected { protected.insert(value) }
      default: try skip(part, of: "a field", into: &entry.left)
      }
    }
    return isBad ? nil : (name.isEmpty ? "field" : name, value)
  }
}
