#define _GNU_SOURCE
#include "cfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/magic.h>
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#include <linux/openat2.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

int cfiles_rename_noreplace(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int cfiles_open_unnamed(const char *directory, unsigned int mode) {
  return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int cfiles_link_unnamed(int descriptor, const char *name) {
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", descriptor);
  if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) return 0;
  // Without /proc, newer kernels accept the descriptor itself.
  return errno == ENOENT ? linkat(descriptor, "", AT_FDCWD, name, AT_EMPTY_PATH) : -1;
}

int64_t cfiles_next_data(int descriptor, int64_t offset) {
  return lseek(descriptor, offset, SEEK_DATA);
}

int cfiles_open_folder(const char *path) {
  return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int cfiles_open_beneath(int directory, const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int cfiles_is_mount_point(const char *directory, const char *name) {
  int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV};
  int found = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
  int crosses = found < 0 && errno == EXDEV;
  if (found >= 0) close(found);
  close(folder);
  return crosses;
}

int cfiles_is_in_memory(int descriptor) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return -1;
  return status.f_type == TMPFS_MAGIC || (uint32_t)status.f_type == RAMFS_MAGIC;
}

int cfiles_reports_changes(const char *path) {
  // The ones that all changes pass through. An unknown one is looked at from time to time, which is never wrong.
  static const uint32_t kinds[] = {
      EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC, RAMFS_MAGIC,
      OVERLAYFS_SUPER_MAGIC, SQUASHFS_MAGIC, ISOFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC, 0x2FC12FC1 /* ZFS */,
  };
  struct statfs status;
  if (statfs(path, &status) != 0) return errno == ENOENT;
  for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
    if ((uint32_t)status.f_type == kinds[index]) return 1;
  }
  return 0;
}

int cfiles_pipe(int *ends) {
  return pipe2(ends, O_CLOEXEC);
}

int cfiles_have_one_order(int first, int second) {
  if (fcntl(first, F_GETFL) & fcntl(second, F_GETFL) & O_APPEND) return 1;
  pid_t self = getpid();
  return syscall(SYS_kcmp, self, self, KCMP_FILE, first, second) == 0;
}

int cfiles_copy_access_list(const char *from, int to) {
  static const char name[] = "system.posix_acl_access";
  char list[64 << 10];  // the longest that the system has
  ssize_t count = getxattr(from, name, list, sizeof list);
  if (count > 0) return fsetxattr(to, name, list, (size_t)count, 0);
  if (count < 0 && errno != ENODATA && errno != ENOTSUP) return -1;
  // The folder may give each new file a list.
  return fremovexattr(to, name) == 0 || errno == ENODATA || errno == ENOTSUP ? 0 : -1;
}

int cfiles_synchronize(int descriptor) {
  return fsync(descriptor);
}

int cfiles_synchronize_data(int descriptor) {
  return fdatasync(descriptor);
}

int cfiles_random(void *bytes, size_t count) { return getentropy(bytes, count); }

int cfiles_wipe_on_fork(void *start, size_t count) {
  return madvise(start, count, MADV_WIPEONFORK);
}

int cfiles_limit_core_files(uint64_t limit) {
  struct rlimit limits;
  if (getrlimit(RLIMIT_CORE, &limits) != 0) return -1;
  limits.rlim_cur = limit;
  return setrlimit(RLIMIT_CORE, &limits);
}

int cfiles_disable_core_files(uint64_t *inherited) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) == 0) *inherited = limit.rlim_cur;
  if (cfiles_limit_core_files(0) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

extern char **environ;

char *const *cfiles_environment(void) { return environ; }

int cfiles_execute(char *const *arguments, char *const *environment) {
  char **before = environ;
  environ = (char **)environment;  // execvpe is not everywhere
  execvp(arguments[0], arguments);
  environ = before;
  return errno;
}

int cfiles_memory_file(const char *name, int no_exec) {
  return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | (no_exec ? MFD_NOEXEC_SEAL : 0));
}

int cfiles_seal(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
}

#define KEYCTL(...) syscall(SYS_keyctl, __VA_ARGS__)

int32_t cfiles_add_key(const char *description, const void *payload, size_t count) {
  return (int32_t)syscall(SYS_add_key, "user", description, payload, count, KEY_SPEC_PROCESS_KEYRING);
}

// Only these two forms of a keyring's name leave the keyring as it is: where there is no session keyring, creating a
// key in KEY_SPEC_SESSION_KEYRING would make one that ends with this process.
int32_t cfiles_session_keyring(void) {
  return (int32_t)KEYCTL(KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
}

int32_t cfiles_find_key(int32_t keyring, const char *description) {
  return (int32_t)KEYCTL(KEYCTL_SEARCH, keyring == 0 ? KEY_SPEC_SESSION_KEYRING : keyring, "user", description, 0);
}

int32_t cfiles_shared_keyring(void) {
  return (int32_t)KEYCTL(KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_SESSION_KEYRING, 0);
}

int32_t cfiles_user_keyring(void) {
  // A session may have a link to this keyring or none; the keyring of the process ends with it.
  if (KEYCTL(KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING) != 0) return -1;
  return (int32_t)KEYCTL(KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0);
}

long cfiles_read_key(int32_t key, void *payload, size_t count) { return KEYCTL(KEYCTL_READ, key, payload, count); }

long cfiles_list_keys(int32_t keyring, int32_t *keys, size_t count) {
  long size = KEYCTL(KEYCTL_READ, keyring, keys, count * sizeof *keys);
  return size < 0 ? -1 : size / (long)sizeof *keys;
}

long cfiles_describe_key(int32_t key, char *text, size_t count) { return KEYCTL(KEYCTL_DESCRIBE, key, text, count); }

int cfiles_restrict_key(int32_t key, int may_expire) {
  // KEY_POS_VIEW, READ, SEARCH and LINK, and SETATTR, which no header for programs defines.
  return (int)KEYCTL(KEYCTL_SETPERM, key, may_expire ? 0x3b000000 : 0x1b000000);
}

int cfiles_expire_key(int32_t key, uint32_t seconds) { return (int)KEYCTL(KEYCTL_SET_TIMEOUT, key, seconds); }

int cfiles_link_key(int32_t key, int32_t keyring) { return (int)KEYCTL(KEYCTL_LINK, key, keyring); }

int cfiles_invalidate_key(int32_t key) { return (int)KEYCTL(KEYCTL_INVALIDATE, key); }

int cfiles_start_thread(void *(*body)(void *), void *argument) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    pthread_t thread;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
  }
  errno = error;
  return error == 0 ? 0 : -1;
}

struct lock_wait {
  int descriptor;
  atomic_bool may_be_cancelled;
};

static void *wait_for_lock(void *argument) {
  struct lock_wait *wait = argument;
  // No signal handler of the program may run in a thread that can be cancelled at any time.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  int type;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
  atomic_store(&wait->may_be_cancelled, 1);
  int answer;
  do {  // flock is one system call, so cancelling it leaves no library state inconsistent
    answer = flock(wait->descriptor, LOCK_EX) == 0 ? 0 : errno;
  } while (answer == EINTR);
  pthread_setcanceltype(type, &type);
  return (void *)(intptr_t)answer;
}

int cfiles_lock_until(int descriptor, long seconds, long nanoseconds) {
  pthread_t thread;
  struct lock_wait wait = {.descriptor = descriptor};
  if (pthread_create(&thread, NULL, wait_for_lock, &wait) != 0) return CFILES_NO_THREAD;
  struct timespec end = {.tv_sec = seconds, .tv_nsec = nanoseconds};
  void *answer;
  if (pthread_clockjoin_np(thread, &answer, CLOCK_MONOTONIC, &end) != 0) {
    // The thread sanitizer refuses a thread that is cancelled before it waits. The join waits for its start anyway.
    while (!atomic_load(&wait.may_be_cancelled)) usleep(50);
    pthread_cancel(thread);
    pthread_join(thread, &answer);
  }
  return answer == PTHREAD_CANCELED ? ETIMEDOUT : (int)(intptr_t)answer;
}
