#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stdint.h>

// The few Linux calls that Swift cannot name: variadic, or hidden without _GNU_SOURCE. No logic here.

/// prctl(PR_SET_DUMPABLE, 0); 0, or -1 and errno.
int csystem_set_undumpable(void);

/// renameat2 in the working directory with RENAME_NOREPLACE; 0, or -1 and errno.
int csystem_rename_noreplace(const char *from, const char *to);

/// openat2 with O_PATH, links followed but not out of the directory; a descriptor, or -1 and errno.
int csystem_open_beneath(int directory, const char *path);

/// fstatfs's f_type; -1 and errno.
int64_t csystem_file_system(int descriptor);

/// The body of a thread that waits in the kernel's queue for the exclusive flock of a descriptor, its argument. Ends
/// with 0 or errno, and with CSYSTEM_CANCELLED when it is cancelled, which it may be at any time.
void *csystem_wait_for_lock(void *descriptor);
#define CSYSTEM_CANCELLED (-1L)

/// pthread_clockjoin_np by CLOCK_MONOTONIC. Takes plain numbers: a system header that is included here would move its
/// types out of Swift's Glibc.
int csystem_join_until(unsigned long thread, long seconds, long nanoseconds, void **answer);

#endif
