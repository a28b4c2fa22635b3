internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// The password store of pass: a tree of files, each encrypted for GnuPG.
///
/// The first line of an entry is the password. A line that is an `otpauth` URI, and lines that begin with `login:`,
/// `user:`, `username:` or `url:` become fields; all others are notes.
struct PassSource {
  /// An entry, and where its text is in the buffer.
  struct PassEntry {
    let name: String
    let text: Range<Int>
  }

  private static let fieldNames = [
    ("login", "username"), ("user", "username"), ("username", "username"), ("url", "url"),
  ]

  /// Decrypts all entries with gpg, which asks for a passphrase by its own means.
  static func read(_ root: String) throws -> PlainSource {
    let buffer = try GuardedBuffer()
    var entries: [PassEntry] = []
    var failure: ToolError?
    let start = root.hasSuffix("/") ? root : root + "/"
    try FileTree.visit(root) { _, path in
      let path = FileTree.text(of: path)
      let name = String(Substring(path.utf8.dropFirst(start.utf8.count)))
      // pass keeps git's folder and its own settings in hidden files.
      guard path.hasSuffix(".gpg"), !name.split(separator: "/").contains(where: { $0.hasPrefix(".") }) else { return }
      let first = buffer.count
      let gpg = try OtherProgram("gpg", ["gpg", "--quiet", "--decrypt", "--", path])
      let text = try ValueReader.read(gpg.output, atMost: PlainSource.longest - first, "\(path): decrypt the entry")
      guard try gpg.succeeds() else {
        throw ToolError(
          VaultError(.io, "\(path): gpg cannot decrypt the entry"), hint: "\"gpg --decrypt\" of this file shows why")
      }
      try text.withUnsafeBytes { try buffer.append($0) }
      entries.append(PassEntry(name: String(name.dropLast(4)), text: first..<buffer.count))
    } failed: { path, number in
      failure = failure ?? .io("\(FileTree.text(of: path)): read it", number)
    }
    if let failure { throw failure }
    var bytes = try SecretBytes(count: buffer.count)
    buffer.withUnsafeBytes { text in bytes.withUnsafeMutableBytes { $0.copyMemory(from: text) } }
    return PlainSource(bytes: bytes, entries: entries, isOnDisk: false)
  }

  static func parse(
    _ entries: [PassEntry], in bytes: UnsafeMutableRawBufferPointer
  ) throws(PreferencesError) -> PlainRecords {
    var records = PlainRecords()
    for entry in entries {
      // Otherwise the entry is a file.
      let isText = isUTF8(UnsafeRawBufferPointer(rebasing: bytes[entry.text]))
      try records.add(entry: entry.name, isText ? fields(entry.text, in: bytes) : [("content", entry.text)], line: 1)
    }
    return records
  }

  private static func fields(
    _ text: Range<Int>, in bytes: UnsafeMutableRawBufferPointer
  ) -> [(name: String, bytes: Range<Int>)] {
    var start: Int? = text.lowerBound
    func nextLine() -> Slice<UnsafeMutableRawBufferPointer>? {
      guard let first = start else { return nil }
      let line = bytes[first..<text.upperBound].prefix { $0 != UInt8(ascii: "\n") }
      start = line.endIndex < text.upperBound ? line.endIndex + 1 : nil
      return line
    }
    var fields = nextLine().map { [("password", withoutReturn($0).indices)] } ?? []
    var following = nextLine()
    // A field beyond them is refused when it is added.
    while fields.count <= PlainRecords.most, let line = following {
      following = nextLine()
      if let field = field(withoutReturn(line)) {
        fields.append(field)
      } else {
        var notes = line.indices
        while let next = following, field(next) == nil {
          notes = notes.lowerBound..<next.endIndex
          following = nextLine()
        }
        // Notes at the end of the text lose their line feed.
        if notes.upperBound == text.upperBound, bytes[notes].last == UInt8(ascii: "\n") { notes = notes.dropLast() }
        fields.append(("notes", notes))
      }
    }
    return fields
  }

  /// The line without the carriage return at its end, which an editor on Windows adds.
  private static func withoutReturn(
    _ line: Slice<UnsafeMutableRawBufferPointer>
  ) -> Slice<UnsafeMutableRawBufferPointer> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  private static func field(_ line: Slice<UnsafeMutableRawBufferPointer>) -> (String, Range<Int>)? {
    if line.starts(with: "otpauth://".utf8) { return ("totp", line.indices) }
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    guard name.count < line.count, let field = fieldNames.first(where: { matches(name, $0.0) }) else { return nil }
    return (field.1, line[name.endIndex...].dropFirst().drop(while: SourceText.isBlank).indices)
  }
}
