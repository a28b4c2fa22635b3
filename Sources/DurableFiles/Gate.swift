/// Blocks a thread until a different thread provides a value.
@safe package final class Gate<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `value` is accessed only under `mutex`.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value?

  package init() {
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

  package func open(_ value: Value) {
    unsafe pthread_mutex_lock(mutex)
    self.value = value
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Waits for the value.
  package func wait() -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while value == nil { unsafe pthread_cond_wait(condition, mutex) }
    return value!
  }

  /// Waits for the value until a deadline. Returns `nil` after it.
  package func wait(until deadline: Deadline) -> Value? {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while value == nil {
      let remaining = deadline.remaining
      guard remaining > .zero else { return nil }
      // In parts, because the clock of the wait may be set meanwhile.
      var end = timespec()
      unsafe clock_gettime(CLOCK_REALTIME, &end)
      let nanoseconds = end.tv_nsec + Int(min(remaining, .milliseconds(500)).components.attoseconds / 1_000_000_000)
      end.tv_sec += nanoseconds / 1_000_000_000
      end.tv_nsec = nanoseconds % 1_000_000_000
      unsafe pthread_cond_timedwait(condition, mutex, &end)
    }
    return value
  }
}
