internal import DurableFiles

/// The words of a command as a POSIX shell reads them: quotes, backslashes, `~` and variables in front of the program.
/// What only a shell can do, such as expanding `$`, is refused instead of misread.
enum ShellWords {
  /// - Parameter origin: where the text is from, for errors.
  static func split(_ text: String, of origin: String) throws(ToolError) -> [String] {
    var words: [String] = []
    var word: [UInt8]?
    var rest = Array(text.utf8)[...]
    func refuse(_ byte: UInt8) -> ToolError {
      let name = byte == UInt8(ascii: "\n") ? "a line break" : String(decoding: [byte], as: UTF8.self)
      return .usage(
        "\(origin) contains \(name) outside of single quotes, which only a shell understands",
        hint: "put it in single quotes, or write a script and name that")
    }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        if let finished = word { words.append(String(decoding: finished, as: UTF8.self)) }
        word = nil
      case UInt8(ascii: "'"):
        guard let end = rest.firstIndex(of: byte) else { throw unended(origin) }
        word = (word ?? []) + rest[..<end]
        rest = rest[(end + 1)...]
      case UInt8(ascii: "\""): word = (word ?? []) + (try quoted(&rest, origin, refuse))
      case UInt8(ascii: "\\"):
        let next = rest.popFirst() ?? byte  // at the end it stands for itself
        if next != UInt8(ascii: "\n") { word = (word ?? []) + [next] }
      case UInt8(ascii: "~") where word == nil:
        guard rest.first.map({ " \t/".utf8.contains($0) }) ?? true, let home = try VaultLocation.variable("HOME") else {
          throw refuse(byte)
        }
        word = Array(home.utf8)
      case UInt8(ascii: "#") where word == nil: throw refuse(byte)
      case _ where "|&;<>()$`*?[\n".utf8.contains(byte): throw refuse(byte)
      default: word = (word ?? []) + [byte]
      }
    }
    if let word { words.append(String(decoding: word, as: UTF8.self)) }
    // The shell would set them for the program; env does.
    return words.first.map(isAssignment) == true ? ["env"] + words : words
  }

  /// Whether a word in front of a program sets a variable.
  static func isAssignment(_ word: String) -> Bool {
    guard let name = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).first,
      name.utf8.count < word.utf8.count, let first = name.utf8.first, !(0x30...0x39).contains(first)
    else { return false }
    return name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }
  }

  /// What is in double quotes, of which the first has been read.
  private static func quoted(
    _ rest: inout ArraySlice<UInt8>, _ origin: String, _ refuse: (UInt8) -> ToolError
  ) throws(ToolError) -> [UInt8] {
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return text
      case UInt8(ascii: "$"), UInt8(ascii: "`"): throw refuse(byte)
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst() else { throw unended(origin) }
        if next == UInt8(ascii: "\n") { continue }
        text += "$`\"\\".utf8.contains(next) ? [next] : [byte, next]
      default: text.append(byte)
      }
    }
    throw unended(origin)
  }

  private static func unended(_ origin: String) -> ToolError {
    .usage("\(origin) has a quote without an end")
  }
}
