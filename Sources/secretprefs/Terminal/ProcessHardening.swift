internal import CVaultSystem
internal import Glibc
internal import Synchronization

/// What the process does before the first secret is read.
enum ProcessHardening {
  static func apply() {
    openStandardDescriptors()
    var inherited = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &inherited) == 0 {
      inheritedCoreLimit.store(UInt64(inherited.rlim_cur), ordering: .relaxed)
    }
    // No core file and no other process of this user that reads our memory.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0, csystem_set_undumpable() == 0 else {
      fail()
    }
    // Swift's crash handler prints registers and the bytes behind them.
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT] { signal(number, SIG_DFL) }
    // A write that cannot be done shall fail, not end the process half way.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    umask(0o077)
  }

  /// Gives every missing standard descriptor to `/dev/null`, so that no file of ours becomes one; opened the
  /// wrong way round, so that using it is an error and neither an empty value nor lost output.
  private static func openStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      let flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      guard open("/dev/null", flags) == descriptor else { fail() }
    }
  }

  /// Whether programs that are started as this one was may leave core files.
  static var othersHaveCores: Bool { inheritedCoreLimit.load(ordering: .relaxed) > 0 }

  private static func fail() -> Never { _exit(ExitStatus.internalFault.rawValue) }
}

private let inheritedCoreLimit = Atomic<UInt64>(0)
