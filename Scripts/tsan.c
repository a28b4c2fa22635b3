// Reports to the thread sanitizer what Synchronization.Mutex does in the runtime library when it waits. The sanitizer does
// not observe libraries. Linked with --wrap: calls of these functions come here.
#define _GNU_SOURCE
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SELF __attribute__((swift_context)) void *handle
#define SWIFT __attribute__((swiftcall))
#define NAMED(prefix, method) __asm__(prefix "$s15Synchronization12_MutexHandleV" method)

SWIFT void real_lock(uint32_t thread, SELF) NAMED("__real_", "9_lockSlowyys6UInt32VF");
SWIFT bool real_try_lock(SELF) NAMED("__real_", "12_tryLockSlowSbyF");
SWIFT void real_unlock(SELF) NAMED("__real_", "11_unlockSlowyyF");

SWIFT void lock(uint32_t thread, SELF) NAMED("__wrap_", "9_lockSlowyys6UInt32VF");
SWIFT bool try_lock(SELF) NAMED("__wrap_", "12_tryLockSlowSbyF");
SWIFT void unlock(SELF) NAMED("__wrap_", "11_unlockSlowyyF");

SWIFT void lock(uint32_t thread, SELF) {
  real_lock(thread, handle);
  __tsan_acquire(handle);
}

SWIFT bool try_lock(SELF) {
  bool taken = real_try_lock(handle);
  if (taken) __tsan_acquire(handle);
  return taken;
}

SWIFT void unlock(SELF) {
  __tsan_release(handle);
  real_unlock(handle);
}

// The sanitizer does not know this call. It would take the thread for a running one, and end when the next has its id.
int __wrap_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *end) {
  struct timespec now, until;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &until);
  long nanoseconds = until.tv_nsec + end->tv_nsec - now.tv_nsec;
  until.tv_sec += end->tv_sec - now.tv_sec + nanoseconds / 1000000000;
  until.tv_nsec = nanoseconds % 1000000000;
  if (until.tv_nsec < 0) {
    until.tv_sec--;
    until.tv_nsec += 1000000000;
  }
  return pthread_timedjoin_np(thread, result, &until);
}
