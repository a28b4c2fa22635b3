internal import CDurableFiles

/// A program that this process has started.
package final class ChildProcess {
  package enum StateChange {
    case notStarted(errno: Int32)
    case started(pid_t)
    case stopped(signal: Int32)
    case exited(Int32)
    case killed(signal: Int32)
  }

  /// A descriptor that is readable when there is an event.
  package let report: Int32
  private let reporter: pid_t

  /// Starts a program, which is looked up as a shell does.
  ///
  /// - Parameters:
  ///   - arguments: the program and its arguments, then `nil`.
  ///   - environment: `NAME=value` for each variable, then `nil`.
  ///   - standard: the descriptors for its standard input, output and error.
  ///   - terminal: the program's end of a pseudo-terminal, which becomes the terminal of a new session.
  ///   - takesPlace: whether the variables with which systemd names this process by its number name the program, as if
  ///     it had replaced this process.
  /// - Returns: `nil`, with `errno`, if the system starts no process.
  package init?(
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, standard: [Int32], terminal: Int32? = nil,
    takesPlace: Bool = false
  ) {
    var report: Int32 = -1
    reporter = unsafe cfiles_start(arguments, environment, standard, terminal ?? -1, takesPlace ? 1 : 0, &report)
    guard reporter > 0 else { return nil }
    self.report = report
  }

  deinit {
    guard reporter > 0 else { return }
    close(report)
    _ = retrying { waitpid(reporter, nil, 0) }
  }

  /// Waits for the next event. Do not call it after the program has ended: no event follows.
  package func next() -> StateChange? {
    var message: (Int32, Int32) = (0, 0)
    let size = MemoryLayout.size(ofValue: message)
    guard retrying({ unsafe recv(report, &message, size, 0) }) == size else { return nil }
    let value = message.1
    switch message.0 {
    case CFILES_NOT_STARTED: return .notStarted(errno: value)
    case CFILES_STARTED: return .started(value)
    default:
      if value & 0xFF == 0x7F { return .stopped(signal: value >> 8 & 0xFF) }
      return value & 0x7F == 0 ? .exited(value >> 8 & 0xFF) : .killed(signal: value & 0x7F)
    }
  }

  /// Opens a new pseudo-terminal. Returns `nil`, with `errno`, if the system has none.
  package static func terminal() -> (keyboard: Int32, programs: Int32)? {
    var (keyboard, programs): (Int32, Int32) = (-1, -1)
    return unsafe cfiles_open_terminal(&keyboard, &programs) == 0 ? (keyboard, programs) : nil
  }

  /// Whether what a program writes to two descriptors has one order: they are one pipe or socket, one open file, or one
  /// file to whose end both append. `false` also for one open file if the system does not tell (kcmp).
  package static func haveOneOrder(_ first: Int32, _ second: Int32) -> Bool {
    var (one, other) = (stat(), stat())
    guard unsafe fstat(first, &one) == 0, unsafe fstat(second, &other) == 0, one.st_dev == other.st_dev,
      one.st_ino == other.st_ino
    else { return false }
    return [S_IFIFO, S_IFSOCK].contains(one.st_mode & S_IFMT) || cfiles_have_one_order(first, second) != 0
  }

  /// Creates a pipe that programs do not inherit, except as a standard descriptor. Returns `nil`, with `errno`, if the
  /// system creates none.
  package static func pipe() -> (reading: Int32, writing: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard unsafe cfiles_pipe(&ends) == 0 else { return nil }
    return (ends[0], ends[1])
  }
}
