internal import DurableFiles
internal import Synchronization

/// Observes the changes of a storage until it is stopped: see ``VaultStorage/observe(_:)``.
public final class StorageObservation: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  /// - Parameter end: ends the observation. Called once.
  public init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  deinit { stop() }

  /// Ends the observation. A call that has begun may still be running.
  public func stop() {
    let end = end.withLock { $0.take() }
    end?()
  }

  /// Calls `notify` every second, for a storage that has no other way. The observer finds out whether anything changed.
  static func polling(_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> StorageObservation {
    let flag = Flag()
    let isStarted = HelperThread.start {
      while true {
        usleep(1_000_000)
        if flag.isSet.load(ordering: .relaxed) { return }
        notify()
      }
    }
    guard isStarted else { throw .io("start a thread that observes the storage") }
    return StorageObservation { flag.isSet.store(true, ordering: .relaxed) }
  }

  private final class Flag: Sendable { let isSet = Atomic(false) }
}
