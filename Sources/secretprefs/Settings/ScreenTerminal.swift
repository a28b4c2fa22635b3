internal import DurableFiles

/// The terminal of standard input and output while a screen is drawn on it: the alternate screen, without echo, with
/// each key read when it is typed, and what is pasted marked. Ctrl-C and Ctrl-Z stay signals. Deinitialization restores
/// it.
final class ScreenTerminal {
  private static let enter = "\u{1B}[?1049h\u{1B}[?7l" + PastedText.marksOn
  private static let leave = PastedText.marksOff + "\u{1B}[0m\u{1B}[?7h\u{1B}[?1049l"

  /// What came from the keyboard.
  enum Input {
    case bytes([UInt8])
    /// Nothing for 0.1 s.
    case pause
    /// Nothing yet.
    case none
    /// Nothing, and the screen is gone: the next write to it fails.
    case screenLost
    /// The terminal is gone.
    case end
  }

  private var normal = termios()
  private var isPrepared = false
  private var before: [(number: Int32, action: sigaction)] = []

  /// Whether a screen can be drawn: standard input and output are terminals, and `$TERM` names one that is not dumb.
  static var isAvailable: Bool {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, let kind = getenv("TERM") else { return false }
    return !["", "dumb"].contains(String(cString: kind))
  }

  init() throws { try prepare() }

  deinit { restore() }

  /// Whether the terminal is still as ``prepare()`` left it. A shell changes it while the process is stopped.
  var isIntact: Bool {
    var mode = termios()
    return tcgetattr(STDIN_FILENO, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) == 0
  }

  func prepare() throws {
    guard let mode = ControllingTerminal.mode(of: STDIN_FILENO) else {
      throw ToolError.io("examine the terminal", errno)
    }
    normal = mode
    if before.isEmpty { before = PendingSignal.catchAll() }
    var drawing = normal
    drawing.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL | IEXTEN)
    drawing.c_lflag |= tcflag_t(ISIG)
    drawing.c_iflag &= ~tcflag_t(IXON | INLCR | IGNCR)
    guard ControllingTerminal.set(&drawing, STDIN_FILENO) else { throw ToolError.io("set the terminal's mode", errno) }
    isPrepared = true
    try Output.write(Self.enter)
  }

  func restore() {
    guard isPrepared else { return }
    isPrepared = false
    // If the terminal is gone there is nothing to restore.
    do { try Output.write(Self.leave) } catch {}
    _ = ControllingTerminal.set(&normal, STDIN_FILENO)
    PendingSignal.restore(before)
    before = []
  }

  /// The size in rows and columns; 24 and 80 if the terminal does not know it.
  static var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// Waits for input, but only while `other` is not readable, and at most 0.1 s, which limits the delay of a signal.
  func read(unlessReady other: Int32) -> Input {
    var polled = [STDIN_FILENO, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    polled.append(pollfd(fd: STDOUT_FILENO, events: 0, revents: 0))
    let ready = poll(&polled, 3, 100)
    guard ready > 0 else { return ready == 0 ? .pause : .none }
    guard polled[0].revents != 0 else { return polled[2].revents != 0 ? .screenLost : .none }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = DurableFiles.read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else { return count < 0 && [EINTR, EAGAIN].contains(errno) ? .none : .end }
    return .bytes(Array(bytes[..<count]))
  }
}
