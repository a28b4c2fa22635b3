import Foundation

/// A terminal that a test types on and looks at.
final class PseudoTerminal {
  /// What a program opens.
  let path: String
  private let keyboard: Int32
  // Kept open, so that the mode outlives the program.
  private let screen: Int32
  private(set) var shown = ""

  init() throws {
    // openpty and its kind are not in Glibc's module; these two requests are all they do.
    let (unlock, number) = (0x4004_5431 as UInt, 0x8004_5430 as UInt)  // TIOCSPTLCK, TIOCGPTN
    keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, index) = (CInt(0), CInt(0))
    guard keyboard >= 0, ioctl(keyboard, unlock, &locked) == 0, ioctl(keyboard, number, &index) == 0 else {
      throw CocoaError(.fileReadUnknown)
    }
    path = "/dev/pts/\(index)"
    screen = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
  }

  deinit {
    close(screen)
    close(keyboard)
  }

  var echoes: Bool {
    var mode = termios()
    return tcgetattr(screen, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
  }

  /// All settings of the terminal.
  var mode: [UInt8] {
    var mode = termios()
    return tcgetattr(screen, &mode) == 0 ? withUnsafeBytes(of: mode) { Array($0) } : []
  }

  func setMode(_ mode: [UInt8]) {
    var mode = mode.withUnsafeBytes { $0.loadUnaligned(as: termios.self) }
    tcsetattr(screen, TCSANOW, &mode)
  }

  func resize(rows: UInt16, columns: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(keyboard, bytes, bytes.count)
  }

  /// Reads the screen until `text` has come up `times` times.
  func wait(for text: String, times: Int = 1) throws {
    let end = ContinuousClock.now + .seconds(300)
    while shown.components(separatedBy: text).count <= times {
      guard ContinuousClock.now < end else { throw Tool.TookTooLong() }
      look()
    }
  }

  /// Waits for the echo to be on or off.
  func wait(forEcho wanted: Bool) throws {
    let end = ContinuousClock.now + .seconds(300)
    while echoes != wanted {
      guard ContinuousClock.now < end else { throw Tool.TookTooLong() }
      usleep(1000)
    }
  }

  /// Takes over what is on the screen by now: what a program has written comes in parts, shortly after each other.
  func look() {
    var ready = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
    var (bytes, patience) = ([UInt8](repeating: 0, count: 4096), CInt(200))
    while poll(&ready, 1, patience) > 0 {
      let count = read(keyboard, &bytes, bytes.count)
      guard count > 0 else { return }
      shown += String(decoding: bytes[..<count], as: UTF8.self)
      patience = 20
    }
  }
}
