/// One line of text that is edited in place.
struct LineEditor {
  private var characters: [Character]
  /// The number of characters before the cursor.
  private var position: Int

  init(_ text: String) {
    characters = Array(text)
    position = characters.count
  }

  var text: String { String(characters) }

  /// Of what is pasted, inserts the first line.
  mutating func press(_ key: KeyPress) {
    switch key {
    case .left: position = max(0, position - 1)
    case .right: position = min(characters.count, position + 1)
    case .home, .control("a"): position = 0
    case .end, .control("e"): position = characters.count
    case .delete: if position < characters.count { characters.remove(at: position) }
    case .backspace:
      guard position > 0 else { return }
      position -= 1
      characters.remove(at: position)
    case .control("u"):
      characters.removeFirst(position)
      position = 0
    case .character(let character):
      characters.insert(character, at: position)
      position += 1
    case .paste(let text):
      let line = text.prefix { !$0.isNewline }
      characters.insert(contentsOf: line, at: position)
      position += line.count
    default: break
    }
  }

  /// Returns the part around the cursor that fits `width` cells, and the cell of the cursor in it.
  func visible(in width: Int) -> (text: String, cursor: Int) {
    let before = displayed(String(characters[..<position]))
    let start = TerminalText.fitting(before, width - 1, fromEnd: true)
    let cursor = TerminalText.width(start)
    let after = displayed(String(characters[position...].prefix(width)))
    return (start + TerminalText.fitting(after, width - cursor), cursor)
  }
}
