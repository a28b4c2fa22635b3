/// The forms that only some programs have, and the values that programs read differently: npm's dotenv, `--env-file` of
/// node and docker, `EnvironmentFile=` of systemd, python-dotenv, and a shell.
extension DotenvParser {
  /// Joins `part`, a text in quotes that was read, with what follows without a blank, as a shell does: more texts in
  /// quotes, characters behind a backslash, and plain characters. A `;` ends it.
  mutating func joined(_ part: Range<Int>, doubt: inout String?) throws(PreferencesError) -> Range<Int> {
    var end = part.upperBound
    while !isAtLineEnd, let byte = next, !Self.isBlank(byte), !"#;&|<>()".utf8.contains(byte) {
      doubt = "only a shell joins what is in quotes with what follows"
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        for index in try quoted() {
          bytes[end] = bytes[index]
          end += 1
        }
        continue
      case UInt8(ascii: "\\"): position += 1
      default: break
      }
      guard !isAtLineEnd, let literal = next else { break }
      bytes[end] = literal
      end += 1
      position += 1
    }
    if next == UInt8(ascii: ";") {
      doubt = "only a shell ends the value at the ;"
      position += 1
    }
    return part.lowerBound..<end
  }

  /// Why programs read a different value than the text in quotes that is next.
  func quotedDoubt() -> String? {
    let quote = bytes[position]
    var index = position + 1
    var doubt: String?
    while index < bytes.count, bytes[index] != quote {
      let after = index + 1 < bytes.count ? bytes[index + 1] : 0
      if bytes[index] == UInt8(ascii: "\\") {
        if quote == UInt8(ascii: "\"") || after == quote || after == UInt8(ascii: "\\") {
          doubt = "programs differ about a backslash in such quotes"
        }
        // A backslash in front of a single quote is text, and the quote ends the value.
        if quote == UInt8(ascii: "\"") { index += 1 }
      } else if let found = expansion(bytes[index], after), quote == UInt8(ascii: "\"") || after == UInt8(ascii: "{") {
        // python-dotenv expands ${NAME} in every kind of quotes.
        return found
      }
      index += 1
    }
    return doubt
  }

  /// Why programs read a different value than an unquoted text.
  func unquotedDoubt(_ text: Range<Int>, isExported: Bool) -> String? {
    var doubt: String?
    for (offset, index) in text.enumerated() {
      let after = index + 1 < text.upperBound ? bytes[index + 1] : 0
      if let found = expansion(bytes[index], after) { return found }
      switch bytes[index] {
      case UInt8(ascii: "#"): doubt = doubt ?? "node ends the value in front of the #"
      case UInt8(ascii: "\\") where index + 1 == text.upperBound:
        doubt = "a shell goes on with the next line behind a backslash"
      case UInt8(ascii: "~") where offset == 0 || bytes[index - 1] == UInt8(ascii: ":"):
        doubt = doubt ?? "a shell expands the ~"
      case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: ";"), UInt8(ascii: "&"),
        UInt8(ascii: "|"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"):
        doubt = doubt ?? "a shell reads a character in it as syntax"
      case let byte where isExported && Self.isBlank(byte): doubt = doubt ?? "a shell ends the value at the blank"
      default: break
      }
    }
    if text.isEmpty, next == UInt8(ascii: "#") || isInFrontOfComment {
      return "python-dotenv takes the # for the value"
    }
    return doubt
  }

  private var isInFrontOfComment: Bool {
    var index = position
    while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
    return index < bytes.count && bytes[index] == UInt8(ascii: "#")
  }

  /// Whether two characters are the beginning of what a shell and some programs replace.
  private func expansion(_ byte: UInt8, _ after: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "`"): return "a shell runs the text in backquotes"
    case UInt8(ascii: "$"):
      let isDigit = (0x30...0x39).contains(after)
      guard Self.isLetter(after) || isDigit || "{(*@#?!$-'\"".utf8.contains(after) else { return nil }
      return "$ is text here, and a shell and other programs replace what follows it"
    default: return nil
    }
  }
}
