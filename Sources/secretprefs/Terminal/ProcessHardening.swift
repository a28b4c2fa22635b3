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
    // Swift's crash handler prints registers and the memory they point to.
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT] { signal(number, SIG_DFL) }
    // A failing write returns an error instead of ending the process.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    umask(0o077)
  }

  /// Opens `/dev/null` for every closed standard descriptor, so that no other file gets its number. The access mode is
  /// wrong on purpose: using the descriptor fails, instead of reading an empty value or losing output.
  private static func openStandardDescriptors() throws(ToolError) {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      guard errno == EBADF else { throw .internal("examine the standard descriptors", errno) }
      let flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      guard open("/dev/null", flags) == descriptor else {
        throw .internal("open /dev/null as a standard descriptor", errno)
      }
    }
  }

  /// Whether the inherited limit lets other programs, started in the same way, leave core files.
  static var inheritedLimitAllowsCores: Bool { inheritedCoreLimit.load(ordering: .relaxed) > 0 }
}

private let inheritedCoreLimit = Atomic<UInt64>(0)
