#ifndef CFILES_H
#define CFILES_H

#include <stddef.h>
#include <stdint.h>

// The system calls that Swift cannot import (variadic, or hidden without _GNU_SOURCE), and those that differ between
// systems. The start of a program and the wait for a lock are in C too, because Swift cannot run in a forked child or
// in a thread that is cancelled. No system header is included here, because that would move its types out of Swift's
// module of the C library.

/// renameat2 with RENAME_NOREPLACE: fails with EEXIST if `to` exists. Returns 0, or -1 and errno.
int cfiles_rename_noreplace(const char *_Nonnull from, const char *_Nonnull to);

/// Opens a new file without a name (O_TMPFILE), for reading and writing. The file goes with its last descriptor unless
/// it gets a name. Returns a descriptor, or -1 and errno.
int cfiles_open_unnamed(const char *_Nonnull directory, unsigned int mode);

/// Gives a file without a name its first name. Fails with EEXIST if `name` exists. Returns 0, or -1 and errno.
int cfiles_link_unnamed(int descriptor, const char *_Nonnull name);

/// Opens a directory that need not be readable (O_PATH), for calls that take names in it. Does not follow a link.
/// Returns a descriptor, or -1 and errno.
int cfiles_open_folder(const char *_Nonnull path);

/// openat2 with O_PATH. Links are followed within the directory only. Returns a descriptor, or -1 and errno.
int cfiles_open_beneath(int directory, const char *_Nonnull path);

/// Whether something is mounted at a name in a directory. 0 if the system does not tell.
int cfiles_is_mount_point(const char *_Nonnull directory, const char *_Nonnull name);

/// Whether the file of a descriptor is on a file system in memory (tmpfs, ramfs). Returns -1 and errno if that cannot
/// be examined.
int cfiles_is_in_memory(int descriptor);

/// lseek with SEEK_DATA: the first offset from this one on that is not in a hole. Returns -1 and errno: ENXIO if only a
/// hole follows, EINVAL if the system does not know holes.
int64_t cfiles_next_data(int descriptor, int64_t offset);

/// Whether the file system of a path reports every change of a file to the programs that watch it on this system,
/// unlike one of a network or of a program. 1 if the path does not exist.
int cfiles_reports_changes(const char *_Nonnull path);

/// A pipe whose ends are closed on exec. Returns 0, or -1 and errno.
int cfiles_pipe(int *_Nonnull ends);

/// Whether what is written to two open descriptors of one file has one order: both append, or they have one offset
/// (kcmp). 0 also if the system does not tell.
int cfiles_have_one_order(int first, int second);

/// Gives a file the POSIX access control list of another file, or none if that has none. Returns 0, or -1 and errno.
int cfiles_copy_access_list(const char *_Nonnull from, int to);

/// fsync. Returns 0, or -1 and errno.
int cfiles_synchronize(int descriptor);

/// The same for content and length only (fdatasync).
int cfiles_synchronize_data(int descriptor);

/// Starts a detached thread that calls `body` with `argument`. Its result is ignored. Returns 0, or -1 and errno.
int cfiles_start_thread(void *_Nullable (*_Nonnull body)(void *_Nonnull), void *_Nonnull argument);

/// Takes the exclusive flock of a descriptor in a thread that waits in the kernel's queue, until a time on the
/// monotonic clock. Returns 0, ETIMEDOUT, or the errno of flock; CFILES_NO_THREAD if the system cannot provide such a
/// thread. After ETIMEDOUT the lock may be held.
int cfiles_lock_until(int descriptor, long seconds, long nanoseconds);
#define CFILES_NO_THREAD (-1)

/// Fills at most 256 bytes from the system's generator. Returns 0, or -1 and errno.
int cfiles_random(void *_Nonnull bytes, size_t count);

/// Makes whole pages zero in a forked child. Returns 0, or -1 and errno.
int cfiles_wipe_on_fork(void *_Nonnull start, size_t count);

/// Disables core files, and the reading of this process's memory by others. Sets `inherited` to the previous limit of
/// core files, if it is known. The hard limit does not change. Returns 0, or -1 and errno.
int cfiles_disable_core_files(uint64_t *_Nonnull inherited);

/// Sets the limit of core files, up to the hard limit. Returns 0, or -1 and errno.
int cfiles_limit_core_files(uint64_t limit);

/// The environment: `NAME=value` for each variable, then NULL.
char *_Nullable const *_Nullable cfiles_environment(void);

/// The arguments of main, then NULL, and their number. NULL if the C library does not pass them on.
char *_Nullable *_Nullable cfiles_arguments(int *_Nonnull number);

/// execvp with an environment. Returns only if it fails: the errno.
int cfiles_execute(char *_Nullable const *_Nonnull arguments, char *_Nullable const *_Nonnull environment);

/// Starts a program, which is looked up as a shell does, as the child of a small process that reports on it.
///
/// `descriptors` become the program's standard ones; -1 leaves one closed. With `terminal`, which is -1 or the
/// program's end of a pseudo-terminal, the program has a session and a process group of its own. With `takes_place`,
/// the variables with which systemd names this process by its number name the program. `environment` may be
/// in pages of `cfiles_wipe_on_fork`. Returns the process that reports, which ends when `report` is closed, or -1 and
/// errno. Each message of `report` has two numbers: one of the constants below, and its value.
int cfiles_start(char *_Nullable const *_Nonnull arguments, char *_Nullable const *_Nonnull environment,
                 const int *_Nonnull descriptors, int terminal, int takes_place, int *_Nonnull report);
#define CFILES_STARTED 1      // the process of the program
#define CFILES_NOT_STARTED 2  // the errno
#define CFILES_STATUS 3       // the status of waitpid: the program has stopped or ended

/// Opens a new pseudo-terminal: the end of the keyboard and screen, and the end of the programs. Both are closed on
/// exec. Returns 0, or -1 and errno.
int cfiles_open_terminal(int *_Nonnull keyboard, int *_Nonnull programs);

/// memfd_create: a file in memory that can be sealed and is closed on exec. `no_exec` needs Linux 6.3. Returns a
/// descriptor, or -1 and errno.
int cfiles_memory_file(const char *_Nonnull name, int no_exec);

/// Seals a file in memory against every change. Returns 0, or -1 and errno.
int cfiles_seal(int descriptor);

// Keys in the kernel: keyctl(2) and add_key(2). All return -1 and errno if the kernel refuses, ENOSYS if the system has
// no such keys.

/// The serial number of the session keyring, or of the one that the kernel uses instead.
int32_t cfiles_session_keyring(void);

/// The serial number of the keyring that all processes of the user without a session keyring share.
int32_t cfiles_shared_keyring(void);

/// The serial number of the keyring of this process's user, which the process possesses from then on: it may use the
/// keys in it that are for possessors.
int32_t cfiles_user_keyring(void);

/// Creates a key of the type "user" in the keyring of this process. The key ends with the process. Returns the serial
/// number.
int32_t cfiles_add_key(const char *_Nonnull description, const void *_Nonnull payload, size_t count);

/// The serial number of the key with a description in a keyring, or with 0 in the session keyring.
int32_t cfiles_find_key(int32_t keyring, const char *_Nonnull description);

/// Reads a key. Returns the length of its payload, which may be more than `count`.
long cfiles_read_key(int32_t key, void *_Nonnull payload, size_t count);

/// The serial numbers of the keys in a keyring. Returns how many there are, which may be more than `count`.
long cfiles_list_keys(int32_t keyring, int32_t *_Nonnull keys, size_t count);

/// The type, owner, group, permissions and description of a key, with `;` between them, then NUL. Returns the length,
/// which may be more than `count`.
long cfiles_describe_key(int32_t key, char *_Nonnull text, size_t count);

/// Allows processes that possess a key to view, read, find and link it and, with `may_expire`, to change its timeout.
/// Others may do nothing.
int cfiles_restrict_key(int32_t key, int may_expire);

/// Lets a key expire after a number of seconds on the clock of the system.
int cfiles_expire_key(int32_t key, uint32_t seconds);

/// Adds a key to a keyring, in place of one with the same description.
int cfiles_link_key(int32_t key, int32_t keyring);

/// Removes a key from every keyring.
int cfiles_invalidate_key(int32_t key);

#endif
