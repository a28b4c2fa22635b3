internal import Preferences

/// A dotenv file. Beside what ``DotenvFormat`` reads, forms are read that only some programs have; a value that
/// programs read differently has a note in the report.
enum DotenvSource {
  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = DotenvParser(bytes, readingForeignForms: true)
    var records = PlainRecords()
    var entries: [DotenvEntry] = []
    while true {
      do throws(PreferencesError) {
        guard let entry = try parser.nextEntry() else { break }
        entries.append(entry)
      } catch {
        try records.refuse(PlainFault(line: parser.failure.line, reason: parser.failure.reason))
        parser.skipLine()
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
      try records.add(entry.name, entry.text, line: entry.line, note: entry.doubt)
    }
    return records
  }
}
