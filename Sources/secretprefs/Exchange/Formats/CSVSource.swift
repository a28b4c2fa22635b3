internal import Preferences

/// CSV with a header, as browsers and password managers export it.
///
/// Columns are found by name. A row with a password becomes an entry: its name is the title, after the group if
/// there is one, or else the host of its URL. A table with the columns `key` (or `name`) and `value` has one key in
/// each row.
struct CSVSource {
  /// What a column has, by its name in lowercase letters.
  private static let meanings = [
    "title": "name", "name": "name", "key": "name", "group": "group", "folder": "folder", "username": "username",
    "login_username": "username", "password": "password", "login_password": "password", "url": "url",
    "website": "url", "login_uri": "url", "notes": "notes", "note": "notes", "totp": "totp", "otpauth": "totp",
    "login_totp": "totp", "value": "value",
  ]
  private static let mostColumns = 1000
  /// The host is in the first bytes of a URL.
  private static let longestURL = 4096
  private static let fieldNames = ["username", "password", "url", "notes", "totp"]

  private var text: SourceText
  private var columns: [String: Int] = [:]

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> PlainRecords {
    var source = CSVSource(text: SourceText(bytes))
    return try source.records()
  }

  private init(text: SourceText) { self.text = text }

  private mutating func records() throws(PreferencesError) -> PlainRecords {
    var records = PlainRecords()
    let header = try row()
    var unused: [String] = []
    for (index, cell) in header.enumerated() {
      let title = try text.name(cell)
      guard let meaning = Self.meanings[title.lowercased()] else {
        unused.append(title)
        continue
      }
      guard columns.updateValue(index, forKey: meaning) == nil else {
        throw text.malformed("two columns for the \(meaning)", line: 1)
      }
    }
    let isTable = columns["password"] == nil && columns["name"] != nil && columns["value"] != nil
    guard isTable || columns["password"] != nil, columns["name"] != nil || columns["url"] != nil else {
      throw text.malformed("the header names no columns for name (or URL) and password, or for key and value", line: 1)
    }
    for title in unused { try records.skip(title, "an unknown column", line: 1) }
    while text.next != nil {
      if text.skipLineEnd() { continue }
      let line = text.line
      let cells = try row()
      guard cells.count == header.count else {
        throw text.malformed("\(cells.count) fields, and the header has \(header.count)", line: line)
      }
      let name = try name(cells)
      if isTable {
        try records.add(name, cells[columns["value"]!], line: line)
      } else {
        try records.add(
          entry: name, Self.fieldNames.compactMap { field in columns[field].map { (field, cells[$0]) } }, line: line)
      }
    }
    return records
  }

  private func name(_ cells: [Range<Int>]) throws(PreferencesError) -> String {
    var name = try columns["name"].map { (index) throws(PreferencesError) in try text.name(cells[index]) } ?? ""
    if name.isEmpty, let url = columns["url"] {
      name = Self.host(String(decoding: text.bytes[cells[url].prefix(Self.longestURL)], as: UTF8.self))
    }
    guard let column = columns["group"] ?? columns["folder"], !name.isEmpty else { return name }
    // KeePassXC's groups begin with the name of the root group.
    let groups = try text.name(cells[column]).split(separator: "/").dropFirst(columns["group"] == nil ? 0 : 1)
    return (groups.map(String.init) + [name]).joined(separator: "/")
  }

  /// The host and port in a URL.
  static func host(_ url: String) -> String {
    var rest = url[...]
    if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
    rest = rest.prefix { !"/?#".contains($0) }
    if let user = rest.lastIndex(of: "@") { rest = rest[rest.index(after: user)...] }
    return String(rest)
  }

  // MARK: Rows

  private mutating func row() throws(PreferencesError) -> [Range<Int>] {
    var cells: [Range<Int>] = []
    repeat {
      guard cells.count < Self.mostColumns else {
        throw .limit("more than \(Self.mostColumns) columns", line: text.line)
      }
      cells.append(try cell())
    } while text.skip(UInt8(ascii: ","))
    guard text.next == nil || text.skipLineEnd() else { throw text.malformed("text behind a quoted field") }
    return cells
  }

  private mutating func cell() throws(PreferencesError) -> Range<Int> {
    let quote = UInt8(ascii: "\"")
    let (line, isQuoted) = (text.line, text.skip(quote))
    let start = text.position
    guard isQuoted else {
      while let next = text.next, next != UInt8(ascii: ","), !text.isAtLineEnd {
        guard next != quote else { throw text.malformed("a quote in a field without quotes") }
        guard next != UInt8(ascii: "\r") else { throw text.malformed("a carriage return that ends no line") }
        _ = text.take()
      }
      return start..<text.position
    }
    var end = start
    while let byte = text.take() {
      if byte == quote, !text.skip(quote) { return start..<end }
      text.bytes[end] = byte
      end += 1
    }
    throw text.malformed("a quote that is not closed", line: line)
  }
}
