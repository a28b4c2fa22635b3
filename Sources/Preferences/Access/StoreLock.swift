import Glibc
import Synchronization

/// A lock for each store, by its identity, for as long as somebody uses it.
///
/// Its thread may take it again: observers run inside a write, and may update the store themselves.
final class StoreLock: @unchecked Sendable {
  // Every use is behind the mutex that it holds.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  private init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  private static let inUse = Mutex<[StoreIdentity: (lock: StoreLock, users: Int)]>([:])

  static func withLock<R>(of identity: StoreIdentity, _ body: () throws -> R) rethrows -> R {
    let lock = inUse.withLock { inUse in
      let (lock, users) = inUse[identity] ?? (StoreLock(), 0)
      inUse[identity] = (lock, users + 1)
      return lock
    }
    pthread_mutex_lock(lock.mutex)
    defer {
      pthread_mutex_unlock(lock.mutex)
      inUse.withLock { inUse in
        inUse[identity]?.users -= 1
        if inUse[identity]?.users == 0 { inUse[identity] = nil }
      }
    }
    return try body()
  }
}
