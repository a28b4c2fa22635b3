internal import Glibc

/// Runs closures that may block for a long time on a separate thread, outside the cooperative pool.
enum HelperThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts `body` on a new thread. If the system provides no thread, runs it on the calling thread.
  static func run(_ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let failed = pthread_create(
      &thread, &attributes,
      { argument in
        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    if failed != 0 { work.takeRetainedValue().body() }
  }
}

/// Blocks one thread until another one provides a value.
final class Gate<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `value` is accessed only under `mutex`.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value?

  init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func open(_ value: Value) {
    pthread_mutex_lock(mutex)
    self.value = value
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for the value.
  func wait() -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while value == nil { pthread_cond_wait(condition, mutex) }
    return value!
  }
}
