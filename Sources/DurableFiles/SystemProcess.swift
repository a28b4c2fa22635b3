internal import CDurableFiles

/// Disables core files, and the reading of this process's memory by other processes of the same user. Returns `false`,
/// with `errno`, if the system refuses.
///
/// - Parameter inherited: set to the previous limit of core files; unchanged if the limit is unknown.
package func disableCoreFiles(inherited: inout UInt64) -> Bool { unsafe cfiles_disable_core_files(&inherited) == 0 }

/// Restores the limit of core files that ``disableCoreFiles(inherited:)`` has lowered. Returns `false`, with `errno`,
/// if the system refuses.
package func restoreCoreFiles(_ inherited: UInt64) -> Bool { cfiles_limit_core_files(inherited) == 0 }

/// The variables of the environment, each as `NAME=value`. Valid until the environment changes.
package var inheritedVariables: [UnsafeMutablePointer<CChar>] {
  var variables: [UnsafeMutablePointer<CChar>] = unsafe []
  guard var next = unsafe cfiles_environment() else { return unsafe variables }
  while let variable = unsafe next.pointee {
    unsafe variables.append(variable)
    unsafe next += 1
  }
  return unsafe variables
}

/// The arguments of this process, with the program's name, as the system passed them. After them comes `nil`.
///
/// On Linux, Swift searches for the arguments in front of the environment when the program starts. A program with a
/// static Swift runtime has none for Swift if a preloaded library has called `setenv` before.
package var launchArguments: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?> {
  var count: Int32 = 0
  guard let arguments = unsafe cfiles_arguments(&count) else {
    return unsafe UnsafeMutableBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
  }
  return unsafe UnsafeMutableBufferPointer(start: arguments, count: Int(count))
}

/// Replaces this process by a program, which is looked up as a shell does. Returns only if that fails: the `errno`.
///
/// - Parameters:
///   - arguments: the program and its arguments, then `nil`.
///   - environment: `NAME=value` for each variable, then `nil`.
package func replaceProcess(
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { unsafe cfiles_execute(arguments, environment) }

extension sigaction {
  /// The function that a signal calls.
  package var handler: (@convention(c) (Int32) -> Void)? {
    get {
      unsafe __sigaction_handler.sa_handler
    }
    set {
      unsafe __sigaction_handler.sa_handler = newValue
    }
  }

  /// Sets a handler that also receives the sender of the signal, and sets the flags to `SA_SIGINFO`.
  package mutating func setDetailedHandler(
    _ handler: @escaping @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void
  ) {
    unsafe __sigaction_handler.sa_sigaction = handler
    sa_flags = SA_SIGINFO
  }
}
