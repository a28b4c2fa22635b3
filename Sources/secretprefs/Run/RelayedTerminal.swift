internal import DurableFiles

/// A terminal while its keys go to another terminal. Deinitialization restores it.
final class RelayedTerminal {
  let descriptor: Int32
  /// Whether other programs use the terminal, too: what they write looks as before, and keys send signals to all.
  private let isShared: Bool
  /// The mode when the terminal was acquired last.
  private(set) var normal = termios()
  private(set) var isTaken = false

  /// The terminal of standard input.
  convenience init() { self.init(STDIN_FILENO, isShared: false) }

  private init(_ descriptor: Int32, isShared: Bool) {
    self.descriptor = descriptor
    self.isShared = isShared
  }

  /// The terminal of this session, if it has one.
  static func shared() -> RelayedTerminal? {
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
    return descriptor < 0 ? nil : RelayedTerminal(descriptor, isShared: true)
  }

  deinit {
    release()
    if isShared { close(descriptor) }
  }

  /// Passes on each key as it is, unless this process is in the background.
  ///
  /// - Returns: Whether the terminal was acquired by this call.
  func acquire() -> Bool {
    guard !isTaken, ControllingTerminal.isForeground(of: descriptor), tcgetattr(descriptor, &normal) == 0 else {
      return false
    }
    var mode = normal
    mode.c_iflag &= ~tcflag_t(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON)
    mode.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN)
    if !isShared {
      mode.c_oflag &= ~tcflag_t(OPOST)
      mode.c_lflag &= ~tcflag_t(ISIG)
    }
    isTaken = retrying { tcsetattr(descriptor, TCSADRAIN, &mode) } == 0
    return isTaken
  }

  func release() {
    guard isTaken, ControllingTerminal.isForeground(of: descriptor) else { return }
    _ = retrying { tcsetattr(descriptor, TCSADRAIN, &normal) }
    isTaken = false
  }
}
