/// The width of text on a terminal, in cells. Text must be safe to display.
enum TerminalText {
  static func width(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + width($1) } }

  /// Returns the longest beginning of `text`, or its longest end, that has at most `limit` cells.
  static func fitting(_ text: String, _ limit: Int, fromEnd: Bool = false) -> String {
    var rest = limit
    func fits(_ character: Character) -> Bool {
      rest -= width(character)
      return rest >= 0
    }
    guard fromEnd else { return String(text.prefix(while: fits)) }
    return String(text.reversed().prefix(while: fits).reversed())
  }

  /// Returns `text` with exactly `width` cells: cut, or with spaces at the end.
  static func padded(_ text: String, to width: Int) -> String {
    let text = fitting(text, width)
    return text + String(repeating: " ", count: max(0, width - self.width(text)))
  }

  /// Two for East Asian characters and emoji, by blocks. Terminals disagree about the exact widths, so a screen must
  /// not rely on them.
  private static func width(_ character: Character) -> Int {
    switch character.unicodeScalars.first?.value ?? 0 {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}
