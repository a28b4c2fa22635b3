internal import Preferences
internal import VaultCore

/// An archive that `export --format archive` has written. Members that are not known are named in the report.
struct ArchiveParser {
  private typealias Fields = RecordsParser.Fields

  /// The records of one list of a group.
  private struct List {
    let group: String
    let isRemoved: Bool
    let records: [(range: Range<Int>, line: Int)]
  }

  private let bytes: UnsafeMutableRawBufferPointer
  private var records = PlainRecords()
  /// Up to where lines have been counted. Decoding a text in place can add line feeds behind.
  private var counted = (position: 0, line: 1)

  /// Whether the bytes begin like an archive.
  static func isArchive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    UnsafeRawBufferPointer(rebasing: bytes.prefix(256)).firstRange(of: Array("\"\(Archive.name)\"".utf8)) != nil
  }

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    guard isUTF8(UnsafeRawBufferPointer(bytes)) else { throw PlainFault(line: 0, reason: "not UTF-8") }
    var parser = ArchiveParser(bytes: bytes)
    var text = InputText(bytes)
    text.skip(while: InputText.isSpace)
    let (members, end) = try GuardedJSONParser.items(of: bytes, from: text.position, line: text.line)
    while text.position < end { _ = text.take() }
    text.skip(while: InputText.isSpace)
    guard text.next == nil else { throw text.malformed("text after the archive") }
    try parser.add(try Fields(members, of: bytes, line: 1))
    try parser.records.note("the keys keep their times and get the revision of this import")
    return parser.records
  }

  private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  private mutating func add(_ archive: Fields) throws(PlainFault) {
    var archive = archive
    guard try archive.string("format") == Archive.name else { throw archive.fault("no archive of secretprefs") }
    guard let version = try archive.number("version"), version > 0 else { throw archive.fault("no \"version\"") }
    guard version <= Archive.version else {
      throw archive.fault("an archive of version \(version): a later version of secretprefs reads it")
    }
    guard let groups = archive.ranges.removeValue(forKey: "groups") else { throw archive.fault("no \"groups\"") }
    let unopened = archive.ranges.removeValue(forKey: "unopened")
    archive.ranges["exported"] = nil
    for group in try ranges(groups, of: archive) {
      for list in try lists(of: (group, line(at: group.lowerBound))) { try add(list) }
    }
    if let unopened { for part in try items(unopened, of: archive) { try skip(unopened: part) } }
    try skipUnknown(archive, of: "the archive")
  }

  /// The elements of an array.
  private func ranges(_ array: Range<Int>, of fields: Fields) throws(PlainFault) -> [Range<Int>] {
    guard bytes[array.lowerBound] == UInt8(ascii: "[") else { throw fields.fault("no list where one belongs") }
    return try GuardedJSONParser.items(of: bytes, from: array.lowerBound, line: fields.line).items.map(\.value)
  }

  /// The elements of an array, with the lines in which they begin. Those up to its end are counted.
  private mutating func items(_ array: Range<Int>, of fields: Fields) throws(PlainFault) -> [(Range<Int>, Int)] {
    var found: [(Range<Int>, Int)] = []
    for range in try ranges(array, of: fields) { found.append((range, line(at: range.lowerBound))) }
    _ = line(at: array.upperBound)
    return found
  }

  private mutating func line(at position: Int) -> Int {
    guard position > counted.position else { return counted.line }
    counted.line += bytes[counted.position..<position].count { $0 == UInt8(ascii: "\n") }
    counted.position = position
    return counted.line
  }

  private func fields(_ item: (range: Range<Int>, line: Int)) throws(PlainFault) -> Fields {
    guard bytes[item.range.lowerBound] == UInt8(ascii: "{") else {
      throw PlainFault(line: item.line, reason: "no object where one belongs")
    }
    return try Fields(
      try GuardedJSONParser.items(of: bytes, from: item.range.lowerBound, line: item.line).items, of: bytes,
      line: item.line)
  }

  private mutating func lists(of group: (Range<Int>, Int)) throws(PlainFault) -> [List] {
    var fields = try fields(group)
    let arrays = ["records", "removed"]
      .compactMap { member in fields.ranges.removeValue(forKey: member).map { (member, $0) } }
      .sorted { $0.1.lowerBound < $1.1.lowerBound }
    var found: [(String, [(Range<Int>, Int)])] = []
    for (member, array) in arrays { found.append((member, try items(array, of: fields))) }
    guard fields.ranges["group"] != nil else { throw fields.fault("a group without \"group\"") }
    let group = try fields.required("group")
    try skipUnknown(fields, of: group)
    return found.map { member, items in
      List(group: group, isRemoved: member == "removed", records: items.map { (range: $0.0, line: $0.1) })
    }
  }

  private mutating func add(_ list: List) throws(PlainFault) {
    for item in list.records {
      do throws(PlainFault) { try add(try fields(item), of: list) } catch {
        guard !error.isFatal else { throw error }
        try records.refuse(error)
      }
    }
  }

  private mutating func add(_ fields: Fields, of list: List) throws(PlainFault) {
    var fields = fields
    let line = fields.line
    var (key, record) = try fields.record()
    record.group = list.group
    record.historyDepth = try fields.number("historyDepth")
    let created = try fields.requiredTime("created")
    if list.isRemoved {
      record.removal = ImportedRecord.Removal(
        removed: try fields.requiredTime("removed"), keptUntil: try fields.requiredTime("keptUntil"))
    }
    let modified = list.isRemoved ? nil : try fields.requiredTime("modified")
    var values: [ImportedRecord.Content?] = []
    if !list.isRemoved { values.append(try fields.openedValue()) }
    values += try fields.earlierOfArchive()
    fields.ranges["revision"] = nil
    if fields.ranges.removeValue(forKey: "extensions") != nil {
      try records.skip(key, "extensions of a later version of the format", line: line)
    }
    try skipUnknown(fields, of: key)
    // The current value is missed more than an earlier one.
    guard let first = values.first, let value = first else {
      return try records.skip(key, "its value did not open when the archive was written", line: line)
    }
    record.earlier = values.dropFirst().compactMap(\.self)
    if record.earlier.count < values.count - 1 {
      try records.skip(key, "an earlier value did not open when the archive was written", line: line)
    }
    record.times = RecordTimes(created: created, modified: modified ?? value.modified ?? created)
    try records.add(key, value.bytes, line: line, spelling: value.spelling, record: record)
  }

  private mutating func skip(unopened part: (range: Range<Int>, line: Int)) throws(PlainFault) {
    var fields = try fields(part)
    // Its record says so itself.
    guard fields.ranges["key"] == nil else { return }
    var name = try fields.string("group")
    if name == nil { name = try fields.string("groupId") }
    try records.skip("access group \(name ?? "")", "it did not open when the archive was written", line: part.line)
  }

  private mutating func skipUnknown(_ fields: RecordsParser.Fields, of name: String) throws(PlainFault) {
    for member in fields.ranges.keys.sorted() {
      try records.skip("\(name), \(member)", "a member that is not known", line: fields.line)
    }
  }
}

extension RecordsParser.Fields {
  fileprivate mutating func requiredTime(_ member: String) throws(PlainFault) -> Int64 {
    guard let time = try time(member) else { throw fault("a record without \"\(member)\"") }
    return time
  }

  /// A value with its kind; `nil` for one that did not open.
  fileprivate mutating func openedValue() throws(PlainFault) -> ImportedRecord.Content? {
    let kind = try kind()
    guard ranges.removeValue(forKey: "unopened") == nil else { return nil }
    return try value(kind, isAnyText: true)
  }

  /// The earlier values, newest first, with their times.
  fileprivate mutating func earlierOfArchive() throws(PlainFault) -> [ImportedRecord.Content?] {
    guard let range = ranges.removeValue(forKey: "previous") else { return [] }
    return try elements(range).map { (fields) throws(PlainFault) in
      var fields = fields
      let modified = try fields.requiredTime("modified")
      fields.ranges["revision"] = nil
      var content = try fields.openedValue()
      content?.modified = modified
      guard fields.ranges.isEmpty else { throw fault("an earlier value with a member that is not known") }
      return content
    }
  }
}
