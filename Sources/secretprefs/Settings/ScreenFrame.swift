/// The lines of a screen, from the top, and the place of the cursor. The lines must be safe to display.
struct ScreenFrame {
  struct TextLine {
    var text: String
    var isSelected = false
  }

  var lines: [TextLine]
  var cursor = (row: 0, column: 0)

  /// The text that draws the frame on a terminal. Each line is drawn at its own position, so that one whose width the
  /// terminal counts differently cannot move others.
  var drawing: String {
    let lines = lines.enumerated().map { row, line in
      "\u{1B}[\(row + 1);1H" + (line.isSelected ? "\u{1B}[7m\(line.text)\u{1B}[0m" : line.text) + "\u{1B}[K"
    }
    return lines.joined() + "\u{1B}[J\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H"
  }
}
