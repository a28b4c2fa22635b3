internal import CDurableFiles

/// Disables core files, and the reading of this process's memory by other processes of the same user. Returns `false`,
/// with `errno`, if the system refuses.
///
/// - Parameter inherited: the limit of core files before; unchanged if it is unknown.
package func disableCoreFiles(inherited: inout UInt64) -> Bool { unsafe cfiles_disable_core_files(&inherited) == 0 }

extension sigaction {
  /// What a signal calls. Each C library has a different name for it.
  package var handler: (@convention(c) (Int32) -> Void)? {
    get {
      #if canImport(Glibc)
        unsafe __sigaction_handler.sa_handler
      #elseif canImport(Musl)
        unsafe __sa_handler.sa_handler
      #else
        unsafe __sigaction_u.__sa_handler
      #endif
    }
    set {
      #if canImport(Glibc)
        unsafe __sigaction_handler.sa_handler = newValue
      #elseif canImport(Musl)
        unsafe __sa_handler.sa_handler = newValue
      #else
        unsafe __sigaction_u.__sa_handler = newValue
      #endif
    }
  }
}
