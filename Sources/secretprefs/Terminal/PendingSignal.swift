internal import DurableFiles
internal import Synchronization

/// A signal that arrived while the terminal's echo was off, or while a value had no other place. It takes effect when
/// echo is on again, or the value is stored or kept.
enum PendingSignal {
  /// All signals that would end or stop the process and leave the terminal without echo. Not included are signals that
  /// cannot be caught, are ignored by default or stop a background process, and faults, which cannot be deferred.
  static let all = (1...64).filter { number in
    ![
      SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTTIN, SIGTTOU, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV,
      SIGSYS,
    ].contains(number)
  }

  static var isPending: Bool { pending != nil }

  /// The signal that arrived, if any.
  static var pending: Int32? {
    let number = arrived.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Returns the signal that arrived, if any, and clears it.
  static func take() -> Int32? {
    let number = arrived.exchange(0, ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Stores a signal for ``raiseIfPending()``.
  ///
  /// - Parameter isForGroup: whether the other processes of the group get it, too, as from a key of the terminal.
  static func keep(_ number: Int32, isForGroup: Bool = false) {
    arrived.store(number, ordering: .relaxed)
    reachesGroup.store(isForGroup, ordering: .relaxed)
  }

  /// Ends the process with the default action of the pending signal, so that the shell sees the real cause.
  static func raiseIfPending() {
    guard let number = take() else { return }
    signal(number, SIG_DFL)
    if reachesGroup.load(ordering: .relaxed) { kill(0, number) }
    raise(number)
    exit(128 + number)  // reached if the signal is blocked
  }

  /// Installs the handler for every signal in ``all`` that is not ignored.
  /// - Returns: The previous handlers.
  static func catchAll() -> [(number: Int32, action: sigaction)] {
    _ = pending  // initializes the global: a signal handler must not take the lock of its first use
    var before: [(number: Int32, action: sigaction)] = []
    for number in all {
      var old = sigaction()
      guard sigaction(number, nil, &old) == 0, !isIgnore(old.handler) else { continue }
      var action = sigaction()
      action.handler = recordSignal
      if sigaction(number, &action, nil) == 0 { before.append((number, old)) }
    }
    return before
  }

  /// Calls `body`. A signal that would end the process is stored for ``raiseIfPending()``; one that stops it does so.
  static func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = catchAll()
    defer { restore(before) }
    if before.contains(where: { $0.number == SIGTSTP }) { signal(SIGTSTP, SIG_DFL) }
    return try body()
  }

  /// Restores the previous handlers.
  static func restore(_ before: [(number: Int32, action: sigaction)]) {
    for (number, action) in before {
      var action = action
      sigaction(number, &action, nil)
    }
  }
}

/// Whether a signal with this handler is ignored.
func isIgnore(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
  unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}

private let arrived = Atomic<Int32>(0)
/// Whether the other processes of the group get the signal, too.
private let reachesGroup = Atomic(false)

// A global function, because a closure could inherit an actor and trap on the thread that receives the signal.
private func recordSignal(_ number: Int32) { arrived.store(number, ordering: .relaxed) }
