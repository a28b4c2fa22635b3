@testable import secretprefs

/// The bytes of a terminal as keys, which edit a line. The first byte of an input says how many bytes arrive at once.
struct KeyPressTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    var whole = KeyDecoder()
    let keys = whole.keys(in: bytes)
    var decoder = KeyDecoder()
    let size = Int(first % 16) + 1
    let parts = stride(from: 0, to: bytes.count, by: size).flatMap { start in
      decoder.keys(in: Array(bytes[start..<min(start + size, bytes.count)]))
    }
    try demand(parts == keys, "the keys depend on how their bytes arrive")
    try demand(decoder.keysAfterPause() == whole.keysAfterPause(), "the key after a pause")
    try demand(keys.count <= bytes.count, "more keys than bytes")
    // What is pending is a beginning of a key or a paste. The end of a paste and an enter end it.
    try demand(decoder.keys(in: Array("\u{1B}[201~\u{1B}\u{1B}~~\r".utf8)).last == .enter, "the decoder does not go on")
    try checkLine(keys)
  }

  private func checkLine(_ keys: [KeyPress]) throws {
    var editor = LineEditor("ab\u{1F600}")
    for key in keys { editor.press(key) }
    let (text, cursor) = editor.visible(in: 10)
    try demand(TerminalText.width(text) <= 10 && (0..<10).contains(cursor), "a line does not fit")
    try demand(!hasControlCharacter(text.utf8), "a line has a control character")
    let frame = ScreenFrame(lines: [ScreenFrame.TextLine(text: TerminalText.padded(text, to: 12))])
    try demand(!frame.drawing.contains("\n"), "a line feed on the screen")
    try demand(TerminalText.width(TerminalText.padded(text, to: 12)) == 12, "a padded line")
  }
}
