internal import DurableFiles

/// The terminal of standard input while its keys go to another terminal. Deinitialization restores it.
final class RelayedTerminal {
  /// The mode when the terminal was acquired last.
  private(set) var normal = termios()
  private(set) var isTaken = false

  deinit { release() }

  /// Whether this process is in the foreground of the terminal. In the background, reading from it or setting its mode
  /// would stop this process.
  private var isInForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Passes on each key as it is, unless this process is in the background.
  ///
  /// - Returns: Whether the terminal was acquired by this call.
  func acquire() -> Bool {
    guard !isTaken, isInForeground, tcgetattr(STDIN_FILENO, &normal) == 0 else { return false }
    var mode = normal
    mode.c_iflag &= ~tcflag_t(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON)
    mode.c_oflag &= ~tcflag_t(OPOST)
    mode.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    isTaken = retrying { tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) } == 0
    return isTaken
  }

  func release() {
    guard isTaken, isInForeground else { return }
    _ = retrying { tcsetattr(STDIN_FILENO, TCSADRAIN, &normal) }
    isTaken = false
  }
}
