internal import DurableFiles
internal import Synchronization

/// Signals to this process, as a descriptor that can be polled.
struct SignalPipe {
  struct Arrival {
    let number: Int32
    /// Whether the system sent it, for example because of a key. Otherwise a process did.
    let isOfSystem: Bool
  }

  let descriptor: Int32

  /// Catches every signal that would end or stop this process and is not ignored; with a terminal, also SIGCONT
  /// and SIGWINCH; as the first process of a container, also SIGCHLD.
  init(withTerminal: Bool) throws(ToolError) {
    guard let pipe = ChildProcess.pipe() else { throw .io("create a pipe", errno) }
    for end in [pipe.reading, pipe.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    descriptor = pipe.reading
    writingEnd.store(pipe.writing, ordering: .relaxed)
    for number in PendingSignal.all { Self.catch(number) }
    if withTerminal { for number in [SIGCONT, SIGWINCH] { Self.catch(number) } }
    if getpid() == 1 { Self.catch(SIGCHLD) }
  }

  private static func `catch`(_ number: Int32) {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0, !isIgnore(action.handler) else { return }
    action.setDetailedHandler(writeSignal)
    sigaction(number, &action, nil)
  }

  /// Stops this process as the terminal does. Returns when it is continued.
  ///
  /// - Parameter withJob: Whether the other processes of the job are stopped, too.
  static func stop(withJob: Bool) {
    signal(SIGTSTP, SIG_DFL)
    kill(withJob ? 0 : getpid(), SIGTSTP)
    Self.catch(SIGTSTP)
  }

  /// The next signal that has arrived.
  func next() -> Arrival? {
    var message: (UInt8, UInt8) = (0, 0)
    guard retrying({ read(descriptor, &message, 2) }) == 2 else { return nil }
    return Arrival(number: Int32(message.0), isOfSystem: message.1 != 0)
  }
}

private let writingEnd = Atomic<Int32>(-1)

// A global function, because a closure could inherit an actor and trap on the thread that receives the signal.
private func writeSignal(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
  let before = errno
  var message: (UInt8, UInt8) = (UInt8(truncatingIfNeeded: number), (info?.pointee.si_code ?? 0) > 0 ? 1 : 0)
  _ = write(writingEnd.load(ordering: .relaxed), &message, 2)
  errno = before
}
