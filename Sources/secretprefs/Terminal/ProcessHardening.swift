internal import CVaultSystem
internal import Glibc
internal import Synchronization

/// What the process does before the first secret is read.
enum ProcessHardening {
  /// - Throws: ``ToolError/internal(_:_:)`` when it cannot be done; nothing of the vault was touched then.
  static func apply() throws(ToolError) {
    try openStandardDescriptors()
    var inherited = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &inherited) == 0 {
      inheritedCoreLimit.store(UInt64(inherited.rlim_cur), ordering: .relaxed)
    }
    // No core file and no other process of this user that reads our memory.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0, csystem_set_undumpable() == 0 else {
      throw .internal("keep this process from leaving a core file", errno)
    }
    // Swift's crash handler prints registers and the bytes behind them.
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT] { signal(number, SIG_DFL) }
    // A write that cannot be done shall fail, not end the process half way.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    umask(0o077)
  }

  /// Gives every missing standard descriptor to `/dev/null`, so that no file of ours becomes one; opened the
  /// wrong way round, so that using it is an error and neither an empty value nor lost output.
  private static func openStandardDescriptors() throws(ToolError) {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      guard errno == EBADF else { throw .internal("look at the standard descriptors", errno) }
      let flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      guard open("/dev/null", flags) == descriptor else {
        throw .internal("open /dev/null as a standard descriptor", errno)
      }
    }
  }

  /// Whether programs that are started as this one was may leave core files.
  static var othersHaveCores: Bool { inheritedCoreLimit.load(ordering: .relaxed) > 0 }
}

private let inheritedCoreLimit = Atomic<UInt64>(0)
