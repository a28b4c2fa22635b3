internal import Preferences

/// CSV with a header, as browsers and password managers export it, with commas, semicolons or tabs.
///
/// Columns are found by name. A row with a password becomes an entry: its name is the title, after the group if
/// there is one, or else the host of its URL. A column that is not known becomes a field of its own name. A table with
/// the columns `key` (or `name`) and `value` has one key in each row.
struct CSVParser {
  private static let mostColumns = 1000
  private static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
  /// What LastPass has in place of the URL of a note.
  private static let noteURL = "http://sn"
  /// What LastPass has in place of the URL of a folder, which has a row of its own.
  private static let folderURL = "http://group"

  private var text: InputText
  private var separator = UInt8(ascii: ",")
  private var columns = CSVColumns()
  /// How many cells of each column hold something that is left out.
  private var left: [Int: Int] = [:]

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = CSVParser(text: InputText(bytes))
    return try parser.records()
  }

  private init(text: InputText) { self.text = text }

  private mutating func records() throws(PlainFault) -> PlainRecords {
    var records = PlainRecords()
    findSeparator()
    let headerLine = text.line
    let cells = try row()
    do throws(PlainFault) {
      columns = CSVColumns(try cells.map { (cell) throws(PlainFault) in try text.cutName(cell) })
    } catch { throw error.through(headerLine, from: headerLine) }
    guard columns.areKnown else {
      throw text.malformed(
        "the header names no columns for name (or URL) and password, or for key and value", line: headerLine)
    }
    let bad = columns.meanings.count { $0 == .bad }
    if bad > 0 {
      let names = counted(bad, "column has a name", "columns have names")
      try records.refuse(.limit("\(names) of more than \(InputText.longestName) bytes", line: headerLine))
    }
    while text.next != nil {
      if text.skipLineEnd() { continue }
      let line = text.line
      do throws(PlainFault) {
        let cells = try wholeRow()
        try add(cells, line: line, to: &records)
      } catch {
        guard !error.isFatal else { throw error }
        // An open quote takes the lines behind it along.
        try records.refuse(error.through(text.lastLine, from: line))
      }
    }
    for (index, count) in left.sorted(by: { $0.key < $1.key }) {
      try records.skip(
        columns.titles[index], "\(counted(count, "value", "values")) of a column that is not imported",
        line: headerLine)
    }
    return records
  }

  private mutating func add(
    _ cells: [Range<Int>], line: Int, to records: inout PlainRecords
  ) throws(PlainFault) {
    guard cells.count == columns.titles.count || columns.isRoboForm && cells.count > columns.titles.count else {
      throw PlainFault(
        line: line, reason: "\(counted(cells.count, "field", "fields")), and the header has \(columns.titles.count)")
    }
    for (cell, (index, meaning)) in zip(cells, columns.meanings.enumerated()) where meaning == .left && !cell.isEmpty {
      left[index, default: 0] += 1
    }
    if columns.isTable {
      guard let name = columns[.name], let value = columns[.value] else { return }
      try records.add(
        try text.name(cells[name]), cells[value], line: line, note: hasRow(cells[value]) ? Self.rowNote : nil)
      return
    }
    if isFolder(cells) { return try records.skip(try name(cells), "a folder, and no entry", line: line) }
    var fields: [PlainRecords.Field] = []
    for (cell, (index, meaning)) in zip(cells, columns.meanings.enumerated()) {
      guard let field = columns.fieldName(index), !isURL(cell, index, Self.noteURL) else { continue }
      if columns.isMatchURL(index), let url = columns[.url], hasSameText(cell, cells[url]) { continue }
      fields.append(PlainRecords.Field(field, cell, isSecret: meaning.isSecret, note: note(on: cell)))
    }
    if columns.isRoboForm { fields += try formFields(cells) }
    try records.add(entry: try name(cells), fields, line: line)
  }

  /// The fields in the last cells of RoboForm, without those that repeat the user or the password.
  private func formFields(_ cells: [Range<Int>]) throws(PlainFault) -> [PlainRecords.Field] {
    let column = columns.titles.count - 1
    let login = [columns[.username], columns[.password]].compactMap { $0 }.map { cells[$0] }
    var fields: [PlainRecords.Field] = []
    for cell in cells[column...] {
      let (name, value) = try RoboFormField.field(cell, in: text, column: columns.titles[column])
      if login.contains(where: { hasSameText($0, value) }) { continue }
      fields.append(PlainRecords.Field(name, value, note: note(on: value)))
    }
    return fields
  }

  private func hasSameText(_ cell: Range<Int>, _ other: Range<Int>) -> Bool {
    text.bytes[cell].elementsEqual(text.bytes[other])
  }

  private func note(on cell: Range<Int>) -> String? {
    if hasRow(cell) { return Self.rowNote }
    // RoboForm protects spreadsheets from formulas.
    let isQuoted = columns.isRoboForm && text.bytes[cell].first == UInt8(ascii: "'")
    return isQuoted && "=+-@'".utf8.contains(text.bytes[cell].dropFirst().first ?? 0) ? Self.quoteNote : nil
  }

  private static let rowNote = "a line of the value looks like a row: a quote may be missing before it"
  private static let quoteNote = "RoboForm writes an apostrophe before some values: the first one may not belong to it"

  /// Whether a line of a value, after the first, has as many separators as a row.
  private func hasRow(_ cell: Range<Int>) -> Bool {
    hasLaterLine(cell, in: text.bytes) { line in line.count { $0 == separator } >= columns.titles.count - 1 }
  }

  /// Whether a cell is what LastPass has in place of a URL.
  private func isURL(_ cell: Range<Int>, _ index: Int, _ url: String) -> Bool {
    columns.meanings[index] == .url && columns.isLastPass && text.bytes[cell].elementsEqual(url.utf8)
  }

  private func isFolder(_ cells: [Range<Int>]) -> Bool {
    guard let url = columns[.url], isURL(cells[url], url, Self.folderURL) else { return false }
    return cells.indices.allSatisfy { $0 == url || cells[$0].isEmpty || columns.fieldName($0) == nil }
  }

  private func name(_ cells: [Range<Int>]) throws(PlainFault) -> String {
    var name =
      try columns[.name].map { (index) throws(PlainFault) in PlainRecords.title(try text.name(cells[index])) } ?? ""
    if name.isEmpty, let url = columns[.url], !isURL(cells[url], url, Self.noteURL) {
      name = InputText.host(of: cells[url], in: text.bytes)
    }
    guard let column = columns[.group] else { return name }
    // LastPass separates groups with backslashes. KeePassXC's begin with the name of the root group.
    let groups = try text.name(cells[column])
      .split { $0 == "/" || columns.isLastPass && $0 == "\\" }.dropFirst(columns.hasRootGroup ? 1 : 0)
    return (groups.map(String.init) + [name]).joined(separator: "/")
  }

  // MARK: Rows

  /// Finds the separator: by a first line `sep=;`, as Excel has it, or by the header.
  private mutating func findSeparator() {
    while text.skipLineEnd() {}
    if text.skip("sep=") || text.skip("\"sep=") {
      separator = text.take() ?? separator
      _ = text.skip(UInt8(ascii: "\""))
      while text.skipLineEnd() {}
      return
    }
    var isQuoted = false
    var counts: [UInt8: Int] = [:]
    for byte in text.bytes[text.position...] {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: "\n"), !isQuoted { break }
      if !isQuoted, Self.separators.contains(byte) { counts[byte, default: 0] += 1 }
    }
    // The first of the separators wins if several are as frequent.
    var most = 0
    for candidate in Self.separators where counts[candidate, default: 0] > most {
      most = counts[candidate, default: 0]
      separator = candidate
    }
  }

  /// The next row. After a fault, its line has been read all the same.
  private mutating func wholeRow() throws(PlainFault) -> [Range<Int>] {
    do throws(PlainFault) { return try row() } catch {
      text.skip { $0 != UInt8(ascii: "\n") }
      _ = text.take()
      throw error
    }
  }

  private mutating func row() throws(PlainFault) -> [Range<Int>] {
    var cells: [Range<Int>] = []
    repeat {
      guard cells.count < Self.mostColumns else {
        throw .tooMuch("more than \(Self.mostColumns) columns", line: text.line)
      }
      cells.append(try cell())
    } while text.skip(separator)
    guard text.next == nil || text.skipLineEnd() else { throw text.malformed("text behind a quoted field") }
    return cells
  }

  private mutating func cell() throws(PlainFault) -> Range<Int> {
    let quote = UInt8(ascii: "\"")
    let (line, isQuoted) = (text.line, text.skip(quote))
    let start = text.position
    guard isQuoted else {
      while let next = text.next, next != separator, !text.isAtLineEnd {
        guard next != quote else { throw text.malformed("a quote in a field without quotes") }
        guard next != UInt8(ascii: "\r") else { throw text.malformed("a carriage return that ends no line") }
        _ = text.take()
      }
      return start..<text.position
    }
    var end = start
    while var byte = text.take() {
      if columns.hasBackslashes, byte == UInt8(ascii: "\\"), let escaped = text.take() {
        byte = escaped
      } else if byte == quote, !text.skip(quote) {
        return start..<end
      }
      text.bytes[end] = byte
      end += 1
    }
    throw text.malformed("a quote that is not closed", line: line)
  }
}
