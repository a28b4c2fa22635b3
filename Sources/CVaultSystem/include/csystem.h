#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stdint.h>

// The Linux calls that Swift cannot import: variadic, or hidden without _GNU_SOURCE. They contain no logic.

/// prctl(PR_SET_DUMPABLE, 0). Returns 0, or -1 and errno.
int csystem_set_undumpable(void);

/// renameat2 in the working directory with RENAME_NOREPLACE. Returns 0, or -1 and errno.
int csystem_rename_noreplace(const char *from, const char *to);

/// openat2 with O_PATH. Links are followed within the directory only. Returns a descriptor, or -1 and errno.
int csystem_open_beneath(int directory, const char *path);

/// The f_type of fstatfs, or -1 and errno.
int64_t csystem_file_system(int descriptor);

/// The body of a thread that waits in the kernel's queue for the exclusive flock of a descriptor, its argument. The
/// thread ends with 0 or errno, or with CSYSTEM_CANCELLED. It may be cancelled at any time.
void *csystem_wait_for_lock(void *descriptor);
#define CSYSTEM_CANCELLED (-1L)

/// pthread_clockjoin_np with CLOCK_MONOTONIC. Takes plain numbers, because including a system header here would move
/// its types out of Swift's Glibc module.
int csystem_join_until(unsigned long thread, long seconds, long nanoseconds, void **answer);

#endif
