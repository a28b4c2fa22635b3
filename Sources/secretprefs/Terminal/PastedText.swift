internal import VaultCore
internal import VaultSealing

/// Lines from a terminal that marks what is pasted. The marks are not a part of the text. Without marks, a block of PEM
/// says itself where it ends.
struct PastedText {
  /// Let the terminal mark what is pasted, or no longer (xterm, DECSET 2004).
  static let marksOn = "\u{1B}[?2004h"
  static let marksOff = "\u{1B}[?2004l"
  static let start = Array("\u{1B}[200~".utf8)
  static let end = Array("\u{1B}[201~".utf8)

  /// Follows the marks in what is read, byte by byte.
  struct Marks {
    /// Whether the end of what is pasted is to come.
    private(set) var isOpen = false
    /// How many bytes of the next mark were read.
    private var matched = 0

    mutating func take(_ byte: UInt8) {
      let mark = isOpen ? PastedText.end : PastedText.start
      matched = byte == mark[matched] ? matched + 1 : byte == mark[0] ? 1 : 0
      guard matched == mark.count else { return }
      isOpen.toggle()
      matched = 0
    }
  }

  private var isMarked = false
  private var isBlock = false
  /// Whether a control character other than a tab was typed, and not pasted: arrow keys type some.
  private(set) var hasTypedControl = false

  /// Whether the end of what is pasted has not been read.
  var isOpen: Bool { isMarked || isBlock }

  /// Appends a line, which has no line feed, and a line feed.
  mutating func add(_ line: UnsafeRawBufferPointer, to text: GuardedBuffer) throws(VaultError) {
    if isBlock {
      isBlock = !line.starts(with: "-----END ".utf8)
    } else if text.count == 0 {
      isBlock = line.starts(with: "-----BEGIN ".utf8)
    }
    var rest = line[...]
    while !rest.isEmpty {
      let mark = isMarked ? Self.end : Self.start
      if rest.starts(with: mark) {
        isMarked.toggle()
        rest = rest.dropFirst(mark.count)
      } else {
        let byte = rest.removeFirst()
        if !isMarked, Self.isControl(byte) { hasTypedControl = true }
        try text.append(byte)
      }
    }
    try text.append(UInt8(ascii: "\n"))
  }

  static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

  /// The length of the value that lines are: a single line without its line feed, or several with one at the end.
  static func count(of lines: UnsafeRawBufferPointer) -> Int {
    let feed = UInt8(ascii: "\n")
    // The last pasted line may have one, besides that of the key that ends the input.
    let text = lines.dropLast(lines.dropLast().last == feed ? 2 : 1)
    return text.contains(feed) ? text.count + 1 : text.count
  }
}
