internal import Preferences

/// The XML that KeePassXC and KeePass export. An entry is named by its groups, except the
/// outermost one, and its title.
struct KeePassSource {
  private static let fieldNames = [
    "UserName": "username", "Password": "password", "URL": "url", "Notes": "notes", "otp": "totp",
  ]

  private var xml: XMLSource
  private var records = PlainRecords()
  private var recycleBin: Range<Int>?

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> PlainRecords {
    var source = KeePassSource(xml: XMLSource(bytes))
    try source.file()
    return source.records
  }

  private init(xml: XMLSource) { self.xml = xml }

  private mutating func file() throws(PreferencesError) {
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
  private mutating func group(in path: String?) throws(PreferencesError) {
    let line = xml.text.line
    var inner = ""
    while let part = try xml.child() {
      switch part {
      case "UUID":
        let id = try xml.content()
        guard let recycleBin, !id.isEmpty, xml.text.bytes[id].elementsEqual(xml.text.bytes[recycleBin]) else { break }
        records.skip("", "the recycle bin", line: line)
        return try xml.skip()
      case "Name":
        let name = try xml.text.name(try xml.content())
        if let path { inner = "\(path)\(name)/" }
      case "Entry": try entry(in: inner)
      case "Group": try group(in: inner)
      default: try xml.skip()
      }
    }
  }

  private mutating func entry(in path: String) throws(PreferencesError) {
    let line = xml.text.line
    var title = ""
    var fields: [(name: String, bytes: Range<Int>)] = []
    var left: [String] = []
    while let part = try xml.child() {
      switch part {
      case "String":
        let (name, value) = try field()
        if name == "Title" {
          title = try xml.text.name(value)
        } else {
          fields.append((Self.fieldNames[name] ?? name, value))
        }
      case "Binary":
        left.append("an attachment")
        try xml.skip()
      case "Times":
        while let time = try xml.child() {
          guard time == "Expires" else {
            try xml.skip()
            continue
          }
          if xml.text.bytes[try xml.content()].elementsEqual("True".utf8) { left.append("the expiry time") }
        }
      case "History":
        while try xml.child() != nil {
          if left.last != "earlier versions" { left.append("earlier versions") }
          try xml.skip()
        }
      default: try xml.skip()
      }
    }
    for left in left { records.skip(path + title, left, line: line) }
    records.add(entry: title.isEmpty ? "" : path + title, fields, line: line)
  }

  private mutating func field() throws(PreferencesError) -> (name: String, value: Range<Int>) {
    var (name, value) = ("", 0..<0)
    while let part = try xml.child() {
      switch part {
      case "Key": name = try xml.text.name(try xml.content())
      case "Value":
        guard !xml.has(" Protected=\"True\"") else {
          throw xml.text.malformed("a protected value: export the database as XML, not encrypted")
        }
        value = try xml.content()
      default: try xml.skip()
      }
    }
    return (name.isEmpty ? "field" : name, value)
  }
}
