internal import Preferences

/// The file of git's credential store: one URL in each line, with the user and the password percent-encoded.
///
/// The keys are those of the credential helper. Lines that git does not read are left out.
enum GitCredentialsParser {
  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var text = InputText(bytes)
    var records = PlainRecords()
    var found: Set<String> = []
    while text.next != nil {
      let (line, start) = (text.line, text.position)
      text.skip { $0 != UInt8(ascii: "\n") }
      let range = start..<text.position
      _ = text.take()
      if bytes[range].allSatisfy(InputText.isSpace) || bytes[range.lowerBound] == UInt8(ascii: "#") { continue }
      guard let (login, password) = GitLogin.parse(storedLine: range, in: bytes), isScheme(login.scheme) else {
        try records.skip("", "git ignores a line that is no URL", line: line)
        continue
      }
      guard login.username != nil, let password else {
        try records.skip(login.key, "git ignores a URL without a user and a password", line: line)
        continue
      }
      if login.host.isEmpty {
        try records.skip(login.key, "a URL without a host", line: line)
      } else if hasControlCharacter(login.host) || hasControlCharacter(login.username ?? []) {
        let isReturn = login.host.last == UInt8(ascii: "\r")
        try records.skip(
          "", isReturn ? "git ignores a line that ends with CR LF" : "a control character in the host or user",
          line: line)
      } else if found.insert(login.key).inserted {
        try records.add(login.key, password, line: line, login: .git)
      } else {
        try records.skip(login.key, "git uses an earlier line for this user", line: line)
      }
    }
    return records
  }

  /// Whether git would ask for a password of such a URL.
  private static func isScheme(_ scheme: [UInt8]) -> Bool {
    guard let first = scheme.first, isLetter(first) else { return false }
    return scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
}
