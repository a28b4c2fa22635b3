/// Dotenv files: one `NAME=value` for each variable, optionally after `export`.
///
/// Programs that read such files differ in details. This is the syntax that they share. Nothing in a file is ever
/// executed or expanded: `$NAME`, `$(command)` and backquotes in a value are plain text.
///
/// * A name has ASCII letters, digits, `_`, `-` and `.`, and begins with a letter or `_`. Blanks around `=` are
///   ignored. The last of several lines with the same name has the value.
/// * A value without quotes ends with its line, or before a `#` after a blank. Blanks around it are ignored.
///   Backslashes and quotes inside are text.
/// * `'…'` is the text between the quotes; `"…"` as well, with `\n`, `\r` and `\t` for a line feed, a carriage return
///   and a tab, and a backslash before a quote, a backslash, a backquote or `$` for the character itself. Both may
///   extend over several lines, which end with LF also in a file that has CR LF.
/// * Empty lines, and lines that begin with `#`, are comments. Lines end with LF or CR LF.
///
/// Every other line makes the file `malformed`, for example a value that begins with a backquote or ends with a
/// backslash, text after a closing quote, and a name without `=`. The error has the number of the line.
public struct DotenvFormat: PreferenceFileFormat {
  public static let name = "dotenv file"
  public static let isText = true

  public init() {}

  public func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    Dictionary(try Self.entries(of: bytes).map { ($0.entry.name, .string($0.text)) }) { _, last in last }
  }

  public func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8] {
    var file = DotenvLines(old ?? [], entries: try Self.entries(of: old ?? []))
    for name in file.names.subtracting(values.keys) { file.remove(name) }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard DotenvParser.isName(name) else {
        throw PreferencesError(.unsupportedByFormat, "not a name of ASCII letters, digits, _, - and .")
      }
      guard case .string(let text) = value, !text.utf8.contains(0) else {
        throw PreferencesError(.unsupportedByFormat, "a dotenv file has text without NUL only")
      }
      file.set(name, to: text)
    }
    return file.bytes
  }

  private static func entries(of bytes: [UInt8]) throws(PreferencesError) -> [(entry: DotenvEntry, text: String)] {
    var bytes = bytes  // decoded in place
    return try bytes.withUnsafeMutableBytes { bytes in
      Result { () throws(PreferencesError) in
        var parser = DotenvParser(bytes)
        var budget = ValueBudget()
        var entries: [(entry: DotenvEntry, text: String)] = []
        while let entry = try parser.nextEntry() {
          try budget.spend(entry.name.utf8.count, depth: 1)
          try budget.spend(entry.text.count, depth: 1)
          guard let text = String(validating: bytes[entry.text], as: UTF8.self) else {
            throw PreferencesError(.malformed, "line \(entry.line): not UTF-8")
          }
          entries.append((entry, text))
        }
        return entries
      }
    }.get()
  }
}
