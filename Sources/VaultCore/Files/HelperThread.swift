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
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let failed = unsafe pthread_create(
      &thread, &attributes,
      { argument in
        unsafe Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, unsafe work.toOpaque())
    if failed != 0 { unsafe work.takeRetainedValue().body() }
  }
}

/// Blocks one thread until another one provides a value.
@safe final class Gate<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `value` is accessed only under `mutex`.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value?

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  func open(_ value: Value) {
    unsafe pthread_mutex_lock(mutex)
    self.value = value
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Waits for the value.
  func wait() -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while value == nil { unsafe pthread_cond_wait(condition, mutex) }
    return value!
  }
}
