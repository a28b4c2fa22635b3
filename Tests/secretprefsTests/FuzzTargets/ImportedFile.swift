import Preferences
import VaultCore
import VaultSealing

@testable import secretprefs

/// What an import makes of a file.
struct ImportedFile {
  let text: [UInt8]
  /// The file after values were decoded in place.
  let bytes: [UInt8]
  let format: PlainFormat
  let records: PlainRecords

  /// Parses a file as `import` does; `nil` for one that is refused as a whole.
  init?(_ text: [UInt8], as chosen: PlainFormat?, skipping skips: String?) throws {
    self.text = text
    do {
      (bytes, format, records) = try withCopy(of: text) { bytes in
        var (format, records) = try Self.parse(bytes, as: chosen)
        try records.finish(
          prefix: "", laterWins: format == .dotenv, keepingGroups: format == .archive,
          skipping: try SkippedParts(skips), in: UnsafeRawBufferPointer(bytes))
        return (Array(bytes), format, records)
      }
    } catch let fault as PlainFault {
      try demandNoSecret(fault.reason, "a fault")
      try demand(fault.line <= fuzzedLines(text).count, "the line of a fault")
      return nil
    } catch let error as ToolError where text.withUnsafeBytes(VaultLocation.isVault) {
      try demandNoSecret(error.message, "a refusal")
      return nil
    }
  }

  private static func parse(
    _ bytes: UnsafeMutableRawBufferPointer, as format: PlainFormat?
  ) throws -> (PlainFormat, PlainRecords) {
    guard format == .pass else {
      let (format, records) = try PlainFormat.parse(bytes, as: format, path: "file.json")
      return (format, records)
    }
    // Entries with a name in their first line.
    var entries: [PassStore.PassEntry] = []
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: 0xFF) ?? bytes.count
      let name = bytes[start..<end].prefix { $0 != UInt8(ascii: "\n") }
      let text = min(name.endIndex + 1, end)..<end
      entries.append(PassStore.PassEntry(name: String(decoding: name, as: UTF8.self), text: text))
      start = end + 1
    }
    return (.pass, try PassParser.parse(PassStore(entries), in: bytes))
  }

  var keys: [String] { records.values.map(\.key) }

  func checkParts() throws {
    let count = fuzzedLines(text).count
    for value in records.values {
      try demand(
        value.bytes.lowerBound >= 0 && value.bytes.upperBound <= bytes.count, "a value is outside of the file")
      try demand(PlainRecords.isKey(value.key), "a key is none")
      try demand((0...count).contains(value.line), "the line of a value")
    }
    for part in records.skipped + records.notes + records.faults.map(\.part) {
      try demand((0...count).contains(part.line), "the line of a part")
      try demand(part.lastLine.map { part.line < $0 && $0 <= count } ?? true, "the last line of a part")
    }
    for fault in records.faults { try demandNoSecret(fault.reason, "a fault") }
    for note in records.notes { try demandNoSecret(note.reason, "a note") }
    // These name collections and programs.
    guard format != .bitwarden, format != .docker else { return }
    for part in records.skipped { try demandNoSecret(part.reason, "what is left out") }
  }

  /// Every entry is imported or named, in the formats in which each line without quotes is one.
  func checkNamed() throws {
    var lines = fuzzedLines(text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text)
    switch format {
    case .gitCredentials, .otpauth: break
    case .dotenv: if text.contains(where: { "'\"`".utf8.contains($0) }) { return }
    case .csv:
      if text.contains(UInt8(ascii: "\"")) || text.firstRange(of: Array("sep=".utf8)) != nil { return }
      // The header.
      guard let header = lines.firstIndex(where: { !$0.isEmpty && $0 != [0x0D] }) else { return }
      lines[header] = []
    default: return
    }
    let named = Set(
      records.values.map(\.line) + records.skipped.map(\.line) + records.faults.flatMap { Array($0.lines) })
    for (index, line) in lines.enumerated() where isRead(line) {
      try demand(named.contains(index + 1), "line \(index + 1) is neither imported nor named")
    }
  }

  private func isRead(_ line: [UInt8]) -> Bool {
    switch format {
    case .csv: !line.isEmpty && line != [0x0D]
    case .gitCredentials: !line.allSatisfy(InputText.isSpace) && line.first != UInt8(ascii: "#")
    case .otpauth:
      // White space at the ends, also of other kinds, does not count. What zbarimg prints may stand alone.
      isEntry(Array(line.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }))
        && !line.contains { $0 | 0x20 == UInt8(ascii: "q") }
    default: isEntry(line)
    }
  }

  /// A value that this tool writes is read as the same value of the same kind.
  func checkWritten() throws {
    for value in records.values.prefix(1) + records.values.dropFirst().suffix(1) {
      let part = Array(bytes[value.bytes])
      let kind = part.withUnsafeBytes { value.spelling.kind(of: $0) }
      let body = try Self.body(value.spelling, part)
      try demand(kind.fits(body.span.bytes), "the bytes of a value do not fit its kind")
      try checkRecord(kind, body)
      if kind == .string, !body.contains(0) { try checkDotenv(body) }
    }
  }

  private static func body(_ spelling: PlainSpelling, _ bytes: [UInt8]) throws -> [UInt8] {
    try spelling.withBody(of: bytes.span.bytes) { (body) throws(VaultError) in body.withUnsafeBytes { Array($0) } }
  }

  private func checkRecord(_ kind: ValueKind, _ body: [UInt8]) throws {
    let output = try SecretOutput(isCollecting: true)
    try output.write(#"{"key":"k","service":"s","#)
    try WrittenValue.write(kind, body.span.bytes, to: output)
    try output.write("}\n")
    let line = output.withBytes { Array($0) }
    try withCopy(of: line) { bytes in
      let records = try RecordsParser.parse(bytes)
      // An archive brings back text of a kind that is no value of it, and records do not.
      guard try !kind.isText || TypedText.kind(kind, of: body.span.bytes) != nil else {
        return try demand(
          records.values.isEmpty && records.faults.count == 1, "a value is read that is not of its kind")
      }
      try demand(records.faults.isEmpty && records.skipped.isEmpty, "a record is not read as it was written")
      guard let value = records.values.first else { throw Violation(description: "a record is not read") }
      let part = Array(bytes[value.bytes])
      try demand(part.withUnsafeBytes { value.spelling.kind(of: $0) } == kind, "the kind of a record")
      try demand(try Self.body(value.spelling, part) == body, "the value of a record")
    }
  }

  private func checkDotenv(_ body: [UInt8]) throws {
    var line = Array("A_b=".utf8)
    body.withUnsafeBytes { DotenvText.write($0) { line.append($0) } }
    for readsForeignForms in [false, true] {
      try withCopy(of: line) { bytes in
        var parser = DotenvParser(bytes, readingForeignForms: readsForeignForms)
        let entry = try parser.nextEntry()
        try demand(entry.map { bytes[$0.text].elementsEqual(body) } == true, "the value of a dotenv file")
        try demand(try parser.nextEntry() == nil, "what follows the value of a dotenv file")
      }
    }
  }
}
