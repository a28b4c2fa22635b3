internal import DurableFiles
internal import Synchronization

/// Protects the process before it reads the first secret.
enum ProcessHardening {
  /// - Throws: ``ToolError/internal(_:_:)`` if the process cannot be protected. The vault is untouched.
  static func apply() throws(ToolError) {
    try openStandardDescriptors()
    var inherited: UInt64 = 0
    let isProtected = disableCoreFiles(inherited: &inherited)
    guard isProtected else { throw .internal("disable core files", errno) }
    inheritedCoreLimit.store(inherited, ordering: .relaxed)
    var ignored: UInt64 = 0
    func set(_ number: Int32, _ action: sighandler_t?) {
      if isIgnore(signal(number, action)) { ignored |= 1 << UInt64(number) }
    }
    // Swift's crash handler prints registers and the memory they point to.
    for number in crashSignals { set(number, SIG_DFL) }
    // A failing write returns an error instead of ending the process.
    for number in writeSignals { set(number, SIG_IGN) }
    inheritedIgnoredSignals.store(ignored, ordering: .relaxed)
    inheritedMask.store(umask(0o077), ordering: .relaxed)
  }

  /// Gives back what ``apply()`` has changed, for the program that replaces this process. The process itself stays
  /// unreadable for others: the kernel ends that when it starts the program.
  static func undo() throws(ToolError) {
    guard restoreCoreFiles(inheritedCoreLimit.load(ordering: .relaxed)) else {
      throw .internal("restore the limit of core files", errno)
    }
    let ignored = inheritedIgnoredSignals.load(ordering: .relaxed)
    for number in crashSignals + writeSignals {
      signal(number, ignored & 1 << UInt64(number) == 0 ? SIG_DFL : SIG_IGN)
    }
    umask(inheritedMask.load(ordering: .relaxed))
  }

  /// Opens `/dev/null` for every closed standard descriptor, so that no other file gets its number. The access mode is
  /// wrong on purpose: using the descriptor fails, instead of reading an empty value or losing output. A program that
  /// replaces this process finds the descriptor closed again.
  private static func openStandardDescriptors() throws(ToolError) {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      guard errno == EBADF else { throw .internal("examine the standard descriptors", errno) }
      let flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      guard open("/dev/null", flags | O_CLOEXEC) == descriptor else {
        throw .internal("open /dev/null as a standard descriptor", errno)
      }
    }
  }

  /// Connects standard input and standard error to `/dev/null`: a completion must not disturb the line being typed.
  static func leaveTerminal() throws(ToolError) {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    guard null >= 0, dup2(null, STDIN_FILENO) >= 0, dup2(null, STDERR_FILENO) >= 0 else {
      throw .internal("leave the terminal", errno)
    }
    close(null)
  }

  /// Whether the inherited limit lets other programs, started in the same way, leave core files.
  static var inheritedLimitAllowsCores: Bool { inheritedCoreLimit.load(ordering: .relaxed) > 0 }
}

private let crashSignals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT]
private let writeSignals = [SIGPIPE, SIGXFSZ]

private let inheritedCoreLimit = Atomic<UInt64>(0)
/// A bit for each signal of the lists above that was ignored.
private let inheritedIgnoredSignals = Atomic<UInt64>(0)
private let inheritedMask = Atomic<mode_t>(0)
