// Reports to the thread sanitizer what Synchronization.Mutex does in the runtime library when it waits. The sanitizer does
// not observe libraries. Linked with --wrap: calls of these three functions come here.
#include <sanitizer/tsan_interface.h>
#include <stdbool.h>
#include <stdint.h>

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
