internal import VaultCore
internal import VaultSealing

/// A part of the bytes of an ``OutputMask`` in which values are searched for.
struct MaskView: ~Copyable {
  private var bytes: SecretBytes
  /// The place of each byte in the mask.
  private(set) var origins: [Int] = []
  /// The number of bytes at the end that may begin a value.
  private(set) var waiting = 0

  init(count: Int) throws(VaultError) { bytes = try SecretBytes(count: count) }

  mutating func append(_ byte: UInt8, from origin: Int) {
    bytes.withUnsafeMutableBytes { $0[origins.count] = byte }
    origins.append(origin)
  }

  /// Calls `hide` with the place in the mask of each byte of a value.
  mutating func find(_ search: ValueSearch, _ hide: (Int) -> Void) {
    let start = bytes.withUnsafeBytes { bytes in
      let text = UnsafeRawBufferPointer(rebasing: bytes[..<origins.count])
      search.forEachMatch(in: text) { place, pattern in
        for index in place..<place + pattern.bytes.count { hide(origins[index]) }
      }
      return search.firstPartialMatch(in: text)
    }
    waiting = start.map { origins.count - $0 } ?? 0
  }

  /// The place in the mask of the first byte that may begin a value.
  var waitingOrigin: Int? { waiting == 0 ? nil : origins[origins.count - waiting] }

  /// Drops the bytes whose place in the mask is before `origin`, which becomes 0.
  mutating func drop(before origin: Int) {
    let place = origins.firstIndex { $0 >= origin } ?? origins.count
    bytes.moveToStart(place..<origins.count)
    origins = origins[place...].map { $0 - origin }
    waiting = min(waiting, origins.count)
  }
}

extension SecretBytes {
  /// Moves bytes to the start, and wipes their old place.
  mutating func moveToStart(_ range: Range<Int>) {
    guard range.lowerBound > 0 else { return }
    withUnsafeMutableBytes { bytes in
      for index in range { bytes[index - range.lowerBound] = bytes[index] }
      wipe(UnsafeMutableRawBufferPointer(rebasing: bytes[range.count..<range.upperBound]))
    }
  }
}

/// The escape sequence that a byte of terminal output belongs to (ECMA-48): ESC, bytes from space to `/` and one more
/// byte; a control sequence, which is ESC, `[`, parameters and a letter; or a string of bytes for the terminal, such as a
/// link or a title, up to BEL or ESC and a backslash.
struct EscapeSequence {
  private enum State { case none, escape, control, string }

  private var state = State.none

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
