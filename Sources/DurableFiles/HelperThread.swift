internal import CDurableFiles

/// Runs closures that may block for a long time on a separate thread, outside the cooperative pool.
package enum HelperThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts `body` on a new thread. Returns `false`, with `errno`, if the system provides no thread.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = unsafe Unmanaged.passRetained(Work(body))
    let failed = unsafe cfiles_start_thread(
      { argument in
        unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    if failed != 0 { unsafe work.release() }
    return failed == 0
  }

  /// Starts `body` on a new thread. If the system provides no thread, runs it on the calling thread.
  package static func run(_ body: @escaping @Sendable () -> Void) {
    if !start(body) { body() }
  }
}
