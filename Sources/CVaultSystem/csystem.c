#define _GNU_SOURCE
#include "csystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

int csystem_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int csystem_rename_noreplace(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int csystem_open_beneath(int directory, const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int64_t csystem_file_system(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (int64_t)status.f_type : -1;
}

void *csystem_wait_for_lock(void *descriptor) {
  // No signal handler of the program may run in a thread that can be cancelled at any time.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  int type;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
  int answer;
  do {  // flock is one system call, so cancelling it leaves no library state inconsistent
    answer = flock((int)(intptr_t)descriptor, LOCK_EX) == 0 ? 0 : errno;
  } while (answer == EINTR);
  pthread_setcanceltype(type, &type);
  return (void *)(intptr_t)answer;
}

_Static_assert((intptr_t)PTHREAD_CANCELED == CSYSTEM_CANCELLED, "the result of a cancelled thread");

int csystem_join_until(unsigned long thread, long seconds, long nanoseconds, void **answer) {
  struct timespec end = {.tv_sec = seconds, .tv_nsec = nanoseconds};
  return pthread_clockjoin_np((pthread_t)thread, answer, CLOCK_MONOTONIC, &end);
}
