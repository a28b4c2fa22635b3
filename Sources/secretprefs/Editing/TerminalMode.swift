internal import DurableFiles

/// The mode of the controlling terminal before another program runs, which leaves its own mode if it is killed.
final class TerminalMode {
  private let descriptor: Int32
  private var mode = termios()

  /// `nil` without a terminal, and in the background, where the mode is that of the program in the foreground.
  init?() {
    descriptor = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard ControllingTerminal.isForeground(of: descriptor), tcgetattr(descriptor, &mode) == 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Sets the mode again, if this process is in the foreground.
  func restore() {
    guard ControllingTerminal.isForeground(of: descriptor) else { return }
    _ = retrying { tcsetattr(descriptor, TCSADRAIN, &mode) }
  }
}
