internal import Preferences

/// The file of git's credential store: one URL in each line, with the user and the password percent-encoded.
///
/// An entry's name is the host with its port and path.
enum GitCredentialsSource {
  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> PlainRecords {
    var text = SourceText(bytes)
    var records = PlainRecords()
    while text.next != nil {
      let (line, start) = (text.line, text.position)
      text.skip { $0 != UInt8(ascii: "\n") }
      let range = start..<text.position
      _ = text.take()
      if range.isEmpty { continue }
      guard let (name, user, password) = try entry(range, text) else {
        throw text.malformed("not a URL with a user and a password", line: line)
      }
      records.add(entry: name, [("username", user), ("password", password)], line: line)
    }
    return records
  }

  private static func entry(
    _ range: Range<Int>, _ text: SourceText
  ) throws(PreferencesError) -> (name: String, user: Range<Int>, password: Range<Int>)? {
    let bytes = text.bytes
    // git ignores a line with a carriage return: it could be read as two lines.
    guard !bytes[range].contains(UInt8(ascii: "\r")),
      let scheme = bytes[range].firstRange(of: Array("://".utf8)),
      let at = bytes[scheme.upperBound..<range.upperBound].firstIndex(of: UInt8(ascii: "@")),
      let colon = bytes[scheme.upperBound..<at].firstIndex(of: UInt8(ascii: ":")),
      let name = DecodedText.percent(at + 1..<range.upperBound, in: bytes),
      let user = DecodedText.percent(scheme.upperBound..<colon, in: bytes),
      let password = DecodedText.percent(colon + 1..<at, in: bytes)
    else { return nil }
    return (try text.name(name), user, password)
  }
}
