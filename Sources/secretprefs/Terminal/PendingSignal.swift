internal import Glibc
internal import Synchronization

/// The signal that arrived while the terminal did not echo, kept until it echoes again.
enum PendingSignal {
  /// Every signal that ends a program or stops it, and would leave the terminal mute. Left out are those that cannot be
  /// caught, that do nothing by default, that stop a program in the background, and faults, which cannot be put off.
  static let all = (1...64).filter { number in
    ![
      SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTTIN, SIGTTOU, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV,
      SIGSYS,
    ].contains(number)
  }

  static var isPending: Bool { arrived.load(ordering: .relaxed) != 0 }

  /// Takes the signal, if one arrived.
  static func take() -> Int32? {
    let number = arrived.exchange(0, ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Keeps the signal for ``dieIfAny()``.
  static func keep(_ number: Int32) { arrived.store(number, ordering: .relaxed) }

  /// Ends the process by the signal it would have ended by, so that the shell sees the truth.
  static func dieIfAny() {
    guard let number = take() else { return }
    signal(number, SIG_DFL)
    raise(number)
    exit(128 + number)  // where the signal is blocked
  }

  /// Installs the handler for every signal in ``all`` that is not ignored.
  /// - Returns: what was installed before.
  static func catchAll() -> [(number: Int32, action: sigaction)] {
    keep(0)  // the first use of a global may take a lock, which a handler must not
    var before: [(number: Int32, action: sigaction)] = []
    for number in all {
      var old = sigaction()
      guard sigaction(number, nil, &old) == 0, !isIgnored(old) else { continue }
      var action = sigaction()
      action.__sigaction_handler.sa_handler = noteSignal
      if sigaction(number, &action, nil) == 0 { before.append((number, old)) }
    }
    return before
  }

  /// Puts back what was there.
  static func restore(_ before: [(number: Int32, action: sigaction)]) {
    for (number, action) in before {
      var action = action
      sigaction(number, &action, nil)
    }
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

private let arrived = Atomic<Int32>(0)

/// A global function: a closure could inherit an actor and would then trap on a signal's thread.
private func noteSignal(_ number: Int32) { arrived.store(number, ordering: .relaxed) }
