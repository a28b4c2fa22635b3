internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// How the command of `run` ended. This process ends in the same way.
struct CommandEnd: Error {
  let code: Int32
}

/// A command that this process has started: its output passes through a mask, or its files are removed when it ends.
///
/// If standard input and masked standard output are a terminal, the command has a session and a terminal of its own,
/// and this process passes on keys, the size and job control. Otherwise it shares the terminal with other programs,
/// such as those of a pipeline, and has its keys and job control from there. A terminal without a session then takes
/// what is masked on its way to the shared one.
///
/// Masked output that is no terminal goes to pipes (`Docs/Decisions/0098`): to one, if standard output and standard
/// error are one, so that their order stays.
final class SupervisedCommand {
  /// Holds the files of the command.
  private let environment: CommandEnvironment
  private let child: ChildProcess
  private let signals: SignalPipe
  private let streams: [MaskedStream]
  /// This process's end of the command's terminal.
  private let keyboard: Int32?
  private let hasSession: Bool
  private let relay: RelayedTerminal?
  /// The mode that the command's terminal began with, until the keys are passed on for the first time.
  private var firstMode: termios?
  /// What was typed and not yet passed on, which may be a password.
  private var keys: SecretBytes
  private var pendingKeys = 0..<0
  /// Whether a key was typed with which a terminal ends commands.
  private var hasTypedEnd = false
  private var isInputOpen = true
  private var process: pid_t?

  /// Starts the command.
  ///
  /// - Parameter search: what is masked in its output; `nil` for nothing.
  init(
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ environment: CommandEnvironment,
    _ search: ValueSearch?
  ) throws {
    self.environment = environment
    let outputs = search == nil ? [] : [STDOUT_FILENO, STDERR_FILENO]
    let terminal = outputs.contains { isatty($0) == 1 } ? ChildProcess.terminal() : nil
    let refusal = errno
    guard terminal != nil || outputs.allSatisfy({ isatty($0) == 0 }) else {
      throw ToolError.io("open a pseudo-terminal", refusal)
    }
    // A descriptor that was closed when this process began is /dev/null now, and closed for the command.
    var standard: [Int32] = (0...2).map { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 ? $0 : -1 }
    var streams: [MaskedStream] = []
    var ends: [Int32] = terminal.map { [$0.programs] } ?? []
    defer { for end in ends { close(end) } }
    for output in outputs where standard[Int(output)] >= 0 {
      guard let search else { break }
      if let terminal, isatty(output) == 1 {
        standard[Int(output)] = terminal.programs
        guard !streams.contains(where: { $0.source == terminal.keyboard }) else { continue }
        streams.append(try MaskedStream(from: terminal.keyboard, to: output, search))
      } else if output == STDERR_FILENO, ChildProcess.haveOneOrder(STDOUT_FILENO, output) {
        standard[Int(output)] = standard[Int(STDOUT_FILENO)]
      } else {
        guard let pipe = ChildProcess.pipe() else { throw ToolError.io("create a pipe", errno) }
        standard[Int(output)] = pipe.writing
        ends = ends + [pipe.writing]
        streams.append(try MaskedStream(from: pipe.reading, to: output, search))
      }
    }
    self.streams = streams
    keyboard = terminal?.keyboard
    keys = try SecretBytes(count: 4096)
    let hasSession = terminal != nil && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    self.hasSession = hasSession
    relay = terminal == nil ? nil : hasSession ? RelayedTerminal() : RelayedTerminal.shared()
    if let terminal {
      firstMode = Self.copyMode(to: terminal.programs, isShared: !hasSession)
      Self.copySize(to: terminal.keyboard)
      if hasSession { standard[0] = terminal.programs }
    }
    signals = try SignalPipe(withTerminal: terminal != nil)
    let (child, number) = try ProcessHardening.suspended {
      environment.withVariables {
        let own = hasSession ? terminal?.programs : nil
        return (ChildProcess(arguments, environment: $0, standard: standard, terminal: own, takesPlace: true), errno)
      }
    }
    guard let child else { throw environment.notStarted(number) }
    self.child = child
    acquire()
  }

  /// Waits for the end of the command.
  func wait() throws -> CommandEnd {
    while true {
      var polled = [pollfd(fd: child.report, events: Int16(POLLIN), revents: 0)]
      if process != nil { polled.append(pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)) }
      for stream in streams where stream.isOpen || stream.hasOutput {
        let place = stream.hasOutput ? (stream.target, POLLOUT) : (stream.source, POLLIN)
        polled.append(pollfd(fd: place.0, events: Int16(place.1), revents: 0))
      }
      if let keyboard, !pendingKeys.isEmpty { polled.append(pollfd(fd: keyboard, events: Int16(POLLOUT), revents: 0)) }
      if let relay, relay.isTaken, isInputOpen, pendingKeys.isEmpty {
        polled.append(pollfd(fd: relay.descriptor, events: Int16(POLLIN), revents: 0))
      }
      _ = poll(&polled, nfds_t(polled.count), timeout)
      let ready = polled.filter { $0.revents != 0 }.map { ($0.fd, $0.events) }
      func isReady(_ descriptor: Int32, _ events: Int32) -> Bool {
        ready.contains { $0 == (descriptor, Int16(events)) }
      }

      for stream in streams {
        if stream.hasOutput {
          if isReady(stream.target, POLLOUT) { stream.write() }
        } else if isReady(stream.source, POLLIN) {
          _ = try stream.read()
        } else {
          try stream.pause()
        }
      }
      if let relay, isReady(relay.descriptor, POLLIN) { readKeys(of: relay) }
      if let keyboard, isReady(keyboard, POLLOUT) { writeKeys(to: keyboard) }
      acquire()
      if isReady(signals.descriptor, POLLIN) { while let arrival = signals.next() { forward(arrival) } }
      if isReady(child.report, POLLIN), let end = try takeEvent() { return end }
    }
  }

  /// In milliseconds; -1 for none.
  private var timeout: Int32 {
    if streams.contains(where: \.isWaiting) { return 50 }
    // A shell need not notify a process that it brings to the foreground, nor a program one that it wants keys.
    guard let relay else { return -1 }
    return hasSession && relay.isTaken ? -1 : 500
  }

  private func takeEvent() throws -> CommandEnd? {
    switch child.next() {
    case .started(let process): self.process = process
    // Without a session, every other signal that stops programs of the terminal has stopped this process, too.
    case .stopped(let number): if hasSession || number == SIGTSTP { try stop() }
    case .exited(let code): return try end(code)
    case .killed(let number): return try end(128 + number, by: number)
    case .notStarted(let number):
      relay?.release()
      throw environment.notStarted(number)
    case nil: throw try unobserved()
    }
    return nil
  }

  /// The error after the end of the process that is the command's parent and reports on it. The command may go on with
  /// its files.
  private func unobserved() throws(VaultError) -> ToolError {
    for stream in streams { try stream.drain(isEnd: true) }
    relay?.release()
    environment.leaveFiles()
    return ToolError(
      VaultError(.io, "the process that waits for the command was killed; the command may still run"),
      hint: environment.hasFiles ? "the next \"secretprefs run\" removes its files after it has ended" : nil)
  }

  /// Ends as the command did, unless output was lost.
  ///
  /// - Parameter signal: The signal that ended the command.
  private func end(_ code: Int32, by signal: Int32? = nil) throws -> CommandEnd {
    for stream in streams { try stream.drain(isEnd: true) }
    relay?.release()
    var end = (code: code, signal: signal)
    for stream in streams {
      guard let failure = stream.failure else { continue }
      guard failure == EPIPE, !ProcessHardening.inheritsIgnored(SIGPIPE) else {
        throw ToolError.io("write to standard \(stream.target == STDOUT_FILENO ? "output" : "error")", failure)
      }
      // The reader has left. Without the mask, the command would have been ended by SIGPIPE. It may have written to
      // this process and succeeded before that was known; a failure of its own says more.
      if code == 0 { end = (128 + SIGPIPE, SIGPIPE) }
    }
    // The key reached the command alone. A terminal would have ended the script, too, that this process is part of.
    if let signal = end.signal {
      PendingSignal.keep(signal, isForGroup: hasTypedEnd && [SIGINT, SIGQUIT].contains(signal))
    }
    return CommandEnd(code: end.code)
  }

  /// Stops this process because the command has stopped, and later continues the command.
  private func stop() throws(VaultError) {
    for stream in streams { try stream.drain(isEnd: false) }
    relay?.release()
    SignalPipe.stop(withJob: hasSession)
    resume()
  }

  private func resume() {
    acquire()
    if let keyboard { Self.copySize(to: keyboard) }
    send(SIGCONT)
  }

  /// Passes on the keys from now on, if this process is in the foreground. A terminal that is shared is acquired while
  /// the command wants keys from the one that it writes to.
  private func acquire() {
    guard let relay, let keyboard else { return }
    guard hasSession || Self.wantsKeys(at: keyboard) else { return relay.release() }
    guard relay.acquire(), hasSession else { return }
    defer { firstMode = nil }
    // At the start in the background, the mode was the one in which a shell reads its own commands.
    var (mode, now) = (relay.normal, termios())
    guard let firstMode, tcgetattr(keyboard, &now) == 0,
      (now.c_iflag, now.c_oflag, now.c_lflag) == (firstMode.c_iflag, firstMode.c_oflag, firstMode.c_lflag)
    else { return }
    _ = tcsetattr(keyboard, TCSANOW, &mode)
  }

  private func forward(_ arrival: SignalPipe.Arrival) {
    switch arrival.number {
    case SIGCONT: resume()
    case SIGCHLD: reap()
    case SIGWINCH:
      if let keyboard { Self.copySize(to: keyboard) }
      // The command may have been notified before its terminal had the new size.
      if !hasSession, arrival.isOfSystem { kill(0, SIGWINCH) }
    // The system sends its signals to the command, too, if that is in the same process group.
    default: if hasSession || !arrival.isOfSystem { send(arrival.number) }
    }
  }

  /// Waits for the processes that have ended and whose parents have ended before: the system makes them children of the
  /// first process of a container. The report says how the command ended, so nothing else needs a status.
  private func reap() { while waitpid(-1, nil, WNOHANG) > 0 {} }

  private func send(_ number: Int32) {
    guard let process else { return }
    kill(hasSession ? -process : process, number)
  }

  private func readKeys(of terminal: RelayedTerminal) {
    let count = keys.withUnsafeMutableBytes { DurableFiles.read(terminal.descriptor, $0.baseAddress, $0.count) }
    if keys.withUnsafeBytes({ $0.prefix(max(count, 0)).contains { $0 == 0x03 || $0 == 0x1C } }) { hasTypedEnd = true }
    if count > 0 {
      pendingKeys = 0..<count
    } else if count == 0 || ![EINTR, EAGAIN].contains(errno) {
      isInputOpen = false
    }
  }

  private func writeKeys(to keyboard: Int32) {
    let count = keys.withUnsafeBytes { keys in
      DurableFiles.write(keyboard, keys.baseAddress! + pendingKeys.lowerBound, pendingKeys.count)
    }
    if count > 0 {
      pendingKeys = pendingKeys.lowerBound + count..<pendingKeys.upperBound
    } else if errno != EINTR, errno != EAGAIN {
      pendingKeys = 0..<0
    }
  }

  /// - Parameter isShared: Whether the outer terminal adds carriage returns itself, and has keys for other programs.
  /// - Returns: The mode, if there is one to copy.
  private static func copyMode(to terminal: Int32, isShared: Bool) -> termios? {
    var mode = termios()
    guard let outer = outerTerminal, tcgetattr(outer, &mode) == 0 else { return nil }
    if isShared {
      mode.c_oflag &= ~tcflag_t(OPOST)
      mode.c_lflag |= tcflag_t(ICANON)
    }
    _ = tcsetattr(terminal, TCSANOW, &mode)
    return mode
  }

  /// Whether a program reads single keys there, such as a pager whose standard input is a pipe.
  private static func wantsKeys(at terminal: Int32) -> Bool {
    var mode = termios()
    return tcgetattr(terminal, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) == 0
  }

  private static func copySize(to terminal: Int32) {
    var size = winsize()
    guard let outer = outerTerminal, ioctl(outer, UInt(TIOCGWINSZ), &size) == 0 else { return }
    _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
  }

  private static var outerTerminal: Int32? { (0...2).first { isatty($0) == 1 } }
}
