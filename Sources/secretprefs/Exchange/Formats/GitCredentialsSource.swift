internal import Preferences

/// The file of git's credential store: one URL in each line, with the user and the password percent-encoded.
///
/// The keys are those of the credential helper.
enum GitCredentialsSource {
  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> PlainRecords {
    var text = SourceText(bytes)
    var records = PlainRecords()
    var found: Set<String> = []
    while text.next != nil {
      let (line, start) = (text.line, text.position)
      text.skip { $0 != UInt8(ascii: "\n") }
      let range = start..<text.position
      _ = text.take()
      if range.isEmpty { continue }
      // git ignores a line with a carriage return: it could be read as two lines.
      guard !bytes[range].contains(UInt8(ascii: "\r")), let (login, password) = GitLogin.parse(range, in: bytes),
        login.username != nil, let password
      else { throw text.malformed("not a URL with a user and a password", line: line) }
      if login.host.isEmpty {
        try records.skip(login.key, "a URL without a host", line: line)
      } else if found.insert(login.key).inserted {
        try records.add(login.key, password, line: line, login: .git)
      } else {
        try records.skip(login.key, "git uses an earlier line for this user", line: line)
      }
    }
    return records
  }
}
