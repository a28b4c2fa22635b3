internal import Preferences

/// A dotenv file. Beside what ``DotenvFormat`` reads, forms are read that only some programs have; a value that
/// programs read differently has a note in the report.
enum ForeignDotenvParser {
  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = DotenvParser(bytes, readingForeignForms: true)
    var records = PlainRecords()
    // What each line with a name has: a value, or why it is bad.
    var found: [(name: String, line: Int, entry: Result<DotenvEntry, PlainFault>)] = []
    while true {
      do throws(PreferencesError) {
        guard let entry = try parser.nextEntry() else { break }
        found.append((entry.name, entry.line, .success(entry)))
      } catch {
        let (line, name, reason) = parser.failure
        parser.skipLine()
        // An open quote takes the lines behind it along.
        let fault = PlainFault(line: line, reason: reason).through(parser.lastLine)
        if name.isEmpty { try records.refuse(fault) } else { found.append((name, line, .failure(fault))) }
      }
      if found.count > PlainRecords.most {
        throw .tooMuch("more than \(PlainRecords.most) values", line: found[PlainRecords.most].line)
      }
    }
    for name in parser.names { try records.skip(name.name, "a name without a value", line: name.line) }
    let isSops = found.contains { name, _, entry in
      guard name == "sops_mac", case .success(let entry) = entry else { return false }
      return ForeignReference.name(of: UnsafeRawBufferPointer(bytes)[entry.text]) != nil
    }
    for (name, line, entry) in found {
      switch entry {
      case .success(let entry): try add(entry, isSops: isSops, from: bytes, to: &records)
      // Its name counts: programs do not read an earlier line of it.
      case .failure(let fault): try records.leave(name, .bad(fault), line: line)
      }
    }
    return records
  }

  private static func add(
    _ entry: DotenvEntry, isSops: Bool, from bytes: UnsafeMutableRawBufferPointer, to records: inout PlainRecords
  ) throws(PlainFault) {
    if let metadata = ForeignReference.metadata(variable: entry.name, isSops: isSops) {
      return try records.skip(entry.name, metadata, line: entry.line)
    }
    let notes = [hasEntry(entry.text, in: bytes) ? entryNote : nil, entry.doubt].compactMap(\.self)
    try records.add(
      entry.name, entry.text, line: entry.line, note: notes.isEmpty ? nil : notes.joined(separator: "; "))
  }

  private static let entryNote = "a line of the value looks like an entry: a quote may be missing before it"

  /// Whether a line of a value, after the first, is an entry. The last line of Base64 also has the form `NAME=`, with
  /// four characters for each three bytes.
  private static func hasEntry(_ value: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    hasLaterLine(value, in: bytes) { line in
      let name = line.prefix { $0 != UInt8(ascii: "=") }
      let rest = line.dropFirst(name.count)
      guard !rest.isEmpty, name.count < 100, rest.contains(where: isOfEntry) || line.count % 4 != 0 else {
        return false
      }
      let words = String(decoding: name, as: UTF8.self)
      return DotenvParser.isName(words.hasPrefix("export ") ? String(words.dropFirst(7)) : words)
    }
  }

  private static func isOfEntry(_ byte: UInt8) -> Bool { byte != UInt8(ascii: "=") && !InputText.isSpace(byte) }
}
