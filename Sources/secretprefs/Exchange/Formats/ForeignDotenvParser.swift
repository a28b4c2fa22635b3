internal import Preferences

/// A dotenv file. Beside what ``DotenvFormat`` reads, forms are read that only some programs have; a value that
/// programs read differently has a note in the report.
enum ForeignDotenvParser {
  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = DotenvParser(bytes, readingForeignForms: true)
    var records = PlainRecords()
    var entries: [DotenvEntry] = []
    while true {
      do throws(PreferencesError) {
        guard let entry = try parser.nextEntry() else { break }
        entries.append(entry)
      } catch {
        let fault = PlainFault(line: parser.failure.line, reason: parser.failure.reason)
        parser.skipLine()
        // An open quote takes the lines behind it along.
        try records.refuse(fault.through(parser.lastLine))
      }
      if entries.count > PlainRecords.most {
        throw .tooMuch("more than \(PlainRecords.most) values", line: entries[PlainRecords.most].line)
      }
    }
    for name in parser.names { try records.skip(name.name, "a name without a value", line: name.line) }
    let isSops = entries.contains { entry in
      entry.name == "sops_mac" && ForeignReference.name(of: UnsafeRawBufferPointer(bytes)[entry.text]) != nil
    }
    for entry in entries {
      if let metadata = ForeignReference.metadata(variable: entry.name, isSops: isSops) {
        try records.skip(entry.name, metadata, line: entry.line)
        continue
      }
      let notes = [hasEntry(entry.text, in: bytes) ? entryNote : nil, entry.doubt].compactMap(\.self)
      try records.add(
        entry.name, entry.text, line: entry.line, note: notes.isEmpty ? nil : notes.joined(separator: "; "))
    }
    return records
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
