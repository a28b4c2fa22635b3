/// The escape sequence that a byte of terminal output belongs to (ECMA-48): ESC, bytes from space to `/` and one more
/// byte; a control sequence, which is ESC, `[`, parameters and a letter; or a string of bytes for the terminal, such
/// as a link or a title, up to BEL or ESC and a backslash.
struct EscapeSequence {
  private enum State { case none, escape, control, string }

  private var state = State.none

  var isIdle: Bool { state == .none }
  var isString: Bool { state == .string }

  /// Takes the next byte of the output. Returns whether it belongs to a sequence.
  mutating func take(_ byte: UInt8) -> Bool {
    switch (state, byte) {
    case (_, 0x1B): state = .escape
    case (.none, _): return false
    case (_, 0x18), (_, 0x1A): state = .none  // these cancel a sequence
    // At a line end, too: without its end, a string would hide the rest of the output from the search.
    case (.string, 0x07), (.string, 0x0A): state = .none
    case (.string, _), (_, 0x0A), (_, 0x0D): break
    case (.escape, UInt8(ascii: "[")): state = .control
    case (.escape, UInt8(ascii: "]")), (.escape, UInt8(ascii: "P")), (.escape, UInt8(ascii: "X")),
      (.escape, UInt8(ascii: "^")), (.escape, UInt8(ascii: "_")):
      state = .string
    case (.escape, 0x20...0x2F), (.control, 0x20...0x3F): break
    case (.escape, 0x30...0x7E), (.control, 0x40...0x7E): state = .none
    default:
      state = .none
      return false
    }
    return true
  }
}
