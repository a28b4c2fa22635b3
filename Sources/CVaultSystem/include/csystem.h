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

/// A zeroed page that is zero again in a forked child (MADV_WIPEONFORK); null when there is none.
void *csystem_wiped_on_fork(void);

#endif
