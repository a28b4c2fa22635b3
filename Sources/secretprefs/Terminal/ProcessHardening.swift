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
    // Swift's crash handler prints registers and the memory they point to. A signal that is ignored has no handler.
    for number in crashSignals where isIgnore(signal(number, SIG_DFL)) { signal(number, SIG_IGN) }
    var ignored: UInt64 = 0
    // A failing write returns an error instead of ending the process.
    for number in writeSignals where isIgnore(signal(number, SIG_IGN)) { ignored |= 1 << UInt64(number) }
    inheritedIgnoredSignals.store(ignored, ordering: .relaxed)
    inheritedMask.store(umask(privateMask), ordering: .relaxed)
  }

  /// Calls `start`, which starts another program or replaces this process by one, while everything that the program
  /// inherits is as it was before ``apply()``. Signals that this process catches stay caught: the system resets them
  /// when it starts the program. The process itself stays unreadable for others: the kernel ends that, too.
  static func suspended<R>(_ start: () -> R) throws(ToolError) -> R {
    guard restoreCoreFiles(inheritedCoreLimit.load(ordering: .relaxed)) else {
      throw .internal("restore the limit of core files", errno)
    }
    umask(inheritedMask.load(ordering: .relaxed))
    let result = withInheritedSignals(start)
    umask(privateMask)
    var limit: UInt64 = 0
    guard disableCoreFiles(inherited: &limit) else { throw .internal("disable core files", errno) }
    return result
  }

  /// Calls `start`, which starts a program that handles the vault's values: it inherits the signals as they were before
  /// ``apply()``, but neither the limit of core files nor the mask of new files.
  static func withInheritedSignals<R>(_ start: () -> R) -> R {
    let ignored = inheritedIgnoredSignals.load(ordering: .relaxed)
    for number in writeSignals where ignored & 1 << UInt64(number) == 0 { signal(number, SIG_DFL) }
    defer { for number in writeSignals { signal(number, SIG_IGN) } }
    return start()
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

  /// Whether a signal of a failing write was ignored before ``apply()``, and is by programs that this process starts.
  static func inheritsIgnored(_ signal: Int32) -> Bool {
    inheritedIgnoredSignals.load(ordering: .relaxed) & 1 << UInt64(signal) != 0
  }

  /// Whether the inherited limit lets other programs, started in the same way, leave core files.
  static var inheritedLimitAllowsCores: Bool { inheritedCoreLimit.load(ordering: .relaxed) > 0 }
}

private let crashSignals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT]
private let writeSignals = [SIGPIPE, SIGXFSZ]

private let privateMask: mode_t = 0o077

private let inheritedCoreLimit = Atomic<UInt64>(0)
/// A bit for each of the signals of a failing write that was ignored.
private let inheritedIgnoredSignals = Atomic<UInt64>(0)
private let inheritedMask = Atomic<mode_t>(0)
