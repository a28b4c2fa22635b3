internal import Glibc

/// Runs work that may block for long on a thread of its own, away from the cooperative pool.
enum HelperThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts `body`. Where the system gives no thread, it runs here, which is slower and right.
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

/// Lets one thread wait until another has an answer.
final class Gate<Answer: Sendable>: @unchecked Sendable {
  // Unchecked: `answer` is touched under `mutex` alone.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var answer: Answer?

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

  func open(_ answer: Answer) {
    pthread_mutex_lock(mutex)
    self.answer = answer
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for the answer.
  func wait() -> Answer {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while answer == nil { pthread_cond_wait(condition, mutex) }
    return answer!
  }
}
