internal import FoundationEssentials
internal import Preferences
internal import VaultCore

/// The records that `export --format records` writes: JSON objects, one after the other. Members that are not known are
/// named in the report.
struct RecordsParser {
  static let ignored = ["revision", "created", "modified", "expired"]

  private let bytes: UnsafeMutableRawBufferPointer
  private var records = PlainRecords()

  /// Whether the first object of a text has the members of a record.
  static func isRecords(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
    var text = InputText(bytes)
    text.skip(while: InputText.isSpace)
    do throws(PlainFault) {
      let members = try GuardedJSONParser.items(of: bytes, from: text.position, line: text.line).items
      return Set(["key", "service", "kind", "historyDepth"]).isSubset(of: members.compactMap(\.name))
    } catch { return false }
  }

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    guard isUTF8(UnsafeRawBufferPointer(bytes)) else { throw PlainFault(line: 0, reason: "not UTF-8") }
    var parser = RecordsParser(bytes: bytes)
    var text = InputText(bytes)
    while true {
      text.skip(while: InputText.isSpace)
      guard text.next != nil else { break }
      let line = text.line
      do throws(PlainFault) {
        let (members, end) = try GuardedJSONParser.items(of: bytes, from: text.position, line: line)
        while text.position < end { _ = text.take() }
        do throws(PlainFault) { try parser.add(members, line: line) } catch {
          guard !error.isFatal else { throw error }
          try parser.records.refuse(error)
        }
      } catch {
        guard !error.isFatal else { throw error }
        skipToRecord(&text)
        try parser.records.refuse(error.through(text.lastLine, from: line))
      }
    }
    try parser.records.note("the records get the time and the revision of this import")
    return parser.records
  }

  /// Skips the lines up to one that begins like a record.
  private static func skipToRecord(_ text: inout InputText) {
    repeat {
      text.skip { $0 != UInt8(ascii: "\n") }
      _ = text.take()
    } while text.next != nil && text.next != UInt8(ascii: "{")
  }

  private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  private mutating func add(_ members: [GuardedJSONParser.Item], line: Int) throws(PlainFault) {
    var fields = try Fields(members, of: bytes, line: line)
    let (key, metadata) = try fields.record()
    var record = metadata
    record.group = try fields.string("group")
    record.historyDepth = try fields.number("historyDepth") ?? 0
    let value = try fields.value(try fields.kind())
    record.earlier = try fields.earlier()
    for name in fields.ranges.keys.sorted() where !Self.ignored.contains(name) {
      try records.skip("\(key), \(name)", "a member that is not known", line: line)
    }
    try records.add(key, value.bytes, line: line, spelling: value.spelling, record: record)
  }
}
