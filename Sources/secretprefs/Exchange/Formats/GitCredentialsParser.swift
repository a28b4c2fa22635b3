internal import Preferences

/// The file of git's credential store: one URL in each line, with the user and the password percent-encoded.
///
/// The keys are those of the credential helper. Lines that git does not read are left out. They are named by their
/// numbers and, where it is certain, the host: any other part of such a line may be of a password.
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
      guard !bytes[range].contains(0) else {
        try records.skip("", "git does not read what is behind a NUL byte", line: line)
        continue
      }
      // Parsing decodes the line.
      let hasLateMark = hasLateMark(range, in: bytes)
      guard let (login, password) = GitLogin.parse(storedLine: range, in: bytes), isScheme(login.scheme) else {
        try records.skip("", "git ignores a line that is no URL", line: line)
        continue
      }
      if let (name, reason) = objection(to: login, password, hasLateMark, in: bytes) {
        try records.skip(name, reason, line: line)
        continue
      }
      guard let password else { continue }
      if login.host.isEmpty {
        try records.skip("", "a URL without a host", line: line)
      } else if hasControlCharacter(login.host) || hasControlCharacter(login.username ?? []) {
        let isReturn = login.host.last == UInt8(ascii: "\r")
        try records.skip(
          "", isReturn ? "git ignores a line that ends with CR LF" : "a control character in the host or user",
          line: line)
      } else if login.host.contains(mark) {
        try records.skip("", "git takes all behind the first @ for the host: an @ in a password is %40", line: line)
      } else if found.insert(login.key).inserted {
        try records.add(
          login.key, password, line: line, login: .git, isSecret: true,
          note: GitCredential.canGive(bytes[password], as: "password") ? nil : Self.helperNote)
      } else {
        try records.skip(login.key, "git uses an earlier line for this user", line: line)
      }
    }
    return records
  }

  private static let mark = UInt8(ascii: "@")
  private static let helperNote =
    "git-credential cannot give it to git: it has a control character, or is too long for a line"

  /// Why git ignores a URL, and what names it; `nil` for a URL with a user and a password.
  private static func objection(
    to login: GitLogin, _ password: Range<Int>?, _ hasLateMark: Bool, in bytes: UnsafeMutableRawBufferPointer
  ) -> (name: String, reason: String)? {
    let lineFeed = UInt8(ascii: "\n")
    let parts = [login.host, login.username ?? [], login.path ?? []]
    if parts.contains(where: { $0.contains(lineFeed) }) || bytes[password ?? 0..<0].contains(lineFeed) {
      return ("", "git ignores a URL with %0a, which is a line end")
    }
    guard password == nil else { return nil }
    if login.username == nil, hasLateMark {
      return ("", "git finds no user and password: a /, ? or # in a password is %2F, %3F or %23")
    }
    let isCertain = login.username != nil && !hasLateMark && isHost(login.host)
    let place = GitLogin(scheme: login.scheme, host: login.host, path: nil, username: nil)
    return (isCertain ? place.key : "", "git ignores a URL without a user and a password")
  }

  /// Whether there is an `@` behind the end of the host, as in a URL whose password is not percent-encoded.
  private static func hasLateMark(_ line: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    guard let start = bytes[line].firstRange(of: Array("://".utf8))?.upperBound else { return false }
    return bytes[start..<line.upperBound].drop { !"/?#".utf8.contains($0) }.contains(mark)
  }

  /// Whether the bytes are a name or an address, and may have a port.
  private static func isHost(_ bytes: [UInt8]) -> Bool {
    let port = bytes.reversed().prefix(while: isDigit).count
    let host = bytes.dropLast(port)
    let name = host.last == UInt8(ascii: ":") ? host.dropLast() : bytes[...]
    if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") {
      return name.dropFirst().dropLast().allSatisfy { DecodedText.hexDigit($0) != nil || ":.".utf8.contains($0) }
    }
    return !name.isEmpty && name.allSatisfy { isLetter($0) || isDigit($0) || ".-".utf8.contains($0) }
  }

  /// Whether git would ask for a password of such a URL.
  private static func isScheme(_ scheme: [UInt8]) -> Bool {
    guard let first = scheme.first, isLetter(first) else { return false }
    return scheme.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
