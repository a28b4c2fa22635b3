#define _GNU_SOURCE
#include "cfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sys/syscall.h>
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

extern char **environ;

// With these, systemd names the one process that they are for.
static const char *const numbered[] = {"LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"};
enum { NUMBERED = sizeof numbered / sizeof *numbered, NUMBER_SIZE = 12 };
// The same as LISTEN_PID in another form, which may be missing.
static const char identifier[] = "LISTEN_PIDFDID=";

// A copy of the environment that a forked process can read, unlike guarded memory. Wiped in every process but the
// program's own.
struct variables {
  char **list;
  size_t size;
  char *numbers[NUMBERED];  // where the program's process writes its number
};

// Where the number of this process begins in a variable of systemd; 0 in any other variable.
static size_t own_number(const char *variable) {
  char text[32 + NUMBER_SIZE];
  for (int index = 0; index < NUMBERED; index++) {
    snprintf(text, sizeof text, "%s=%d", numbered[index], (int)getpid());
    if (strcmp(variable, text) == 0) return strlen(numbered[index]) + 1;
  }
  return 0;
}

static int copy_variables(char *const *environment, int takes_place, struct variables *copy) {
  size_t count = 0, length = NUMBERED * NUMBER_SIZE;
  int numbers = 0;
  for (; environment[count]; count++) length += strlen(environment[count]) + 1;
  copy->size = (count + 1) * sizeof(char *) + length;
  copy->list = mmap(NULL, copy->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy->list == MAP_FAILED) return -1;
  mlock(copy->list, copy->size);
  madvise(copy->list, copy->size, MADV_DONTDUMP);
  char *text = (char *)(copy->list + count + 1);
  for (char **next = copy->list; *environment; environment++) {
    if (takes_place && strncmp(*environment, identifier, sizeof identifier - 1) == 0) continue;
    size_t size = strlen(*environment) + 1, place = takes_place ? own_number(*environment) : 0;
    *next++ = memcpy(text, *environment, size);
    if (place > 0 && numbers < NUMBERED) {
      copy->numbers[numbers++] = text + place;
      text += NUMBER_SIZE;
    }
    text += size;
  }
  return 0;
}

// Writes the number of this process. Without snprintf, which a process that was forked beside threads may not call.
static void write_own_number(char *text) {
  char digits[NUMBER_SIZE];
  int count = 0;
  for (pid_t rest = getpid(); rest > 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
  while (count > 0) *text++ = digits[--count];
  *text = 0;
}

static void wipe_variables(struct variables *copy) {
  volatile char *bytes = (volatile char *)copy->list;
  for (size_t index = 0; index < copy->size; index++) bytes[index] = 0;
  munmap(copy->list, copy->size);
}

static void say(int report, int what, int value) {
  int message[2] = {what, value};
  while (send(report, message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

// Returns a copy above the standard descriptors in place of one of them; -1, with errno, if the system provides none.
static int above_standard(int descriptor) {
  if (descriptor > 2) return descriptor;
  int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, 3), number = errno;
  close(descriptor);
  errno = number;
  return higher;
}

static void close_range_of(int first, int last) {
  if (first > last) return;
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)last >= limit.rlim_cur) last = (int)limit.rlim_cur - 1;
  for (int descriptor = first; descriptor <= last; descriptor++) close(descriptor);
}

// In the program's process: its descriptors and signals, then the program itself.
static void become(char *const *arguments, const struct variables *variables, const int *descriptors, int terminal,
                   const sigset_t *mask, int ignores_children, int report) {
  // Copies above the standard descriptors, because one of those may take the number of another.
  int copies[3];
  for (int index = 0; index < 3; index++) {
    copies[index] = fcntl(descriptors[index], F_DUPFD_CLOEXEC, 3);
    if (copies[index] < 0 && descriptors[index] >= 0) goto failed;
  }
  for (int index = 0; index < 3; index++) {
    // A descriptor that the caller has closed stays closed.
    if (descriptors[index] < 0) close(index);
    else if (dup2(copies[index], index) < 0) goto failed;
  }
  if (terminal >= 0) {
    setpgid(0, 0);
    tcsetpgrp(terminal, getpid());  // allowed in the background because SIGTTOU is blocked
  }
  for (int number = 1; number < NSIG; number++) {
    // A handler of the caller must not run here.
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) signal(number, SIG_DFL);
  }
  if (ignores_children) signal(SIGCHLD, SIG_IGN);
  sigprocmask(SIG_SETMASK, mask, NULL);
  for (int index = 0; index < NUMBERED && variables->numbers[index]; index++) {
    write_own_number(variables->numbers[index]);
  }
  environ = variables->list;
  execvp(arguments[0], arguments);
failed:
  say(report, CFILES_NOT_STARTED, errno);
  _exit(127);
}

int cfiles_start(char *const *arguments, char *const *environment, const int *descriptors, int terminal,
                 int takes_place, int *report) {
  int ends[2];
  struct variables variables = {0};
  // In one call, because another thread may start a program at any time.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  // The program's process puts its standard descriptors where they belong.
  if ((ends[1] = above_standard(ends[1])) < 0) goto failed_after;
  sigset_t all, mask;
  sigfillset(&all);
  if (copy_variables(environment, takes_place, &variables) != 0) goto failed;
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  pid_t parent = fork();
  if (parent != 0) {
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    wipe_variables(&variables);
    close(ends[1]);
    errno = error;
    if (parent < 0) goto failed_after;
    *report = ends[0];
    return parent;
  }

  // The program's parent. In a session of its own it makes job control work: the terminal can stop and continue the
  // program, as it could under a shell.
  if (terminal >= 0) {
    setsid();
    ioctl(terminal, TIOCSCTTY, 0);
  }
  // If SIGCHLD is ignored, the system keeps no status of children.
  int ignores_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  pid_t child = fork();
  if (child == 0) become(arguments, &variables, descriptors, terminal, &mask, ignores_children, ends[1]);
  int error = errno;
  wipe_variables(&variables);
  // Others wait for the end of the program's output, and the terminal ends when its last keyboard is closed.
  close_range_of(0, ends[1] - 1);
  close_range_of(ends[1] + 1, ~0U >> 1);
  if (child < 0) {
    say(ends[1], CFILES_NOT_STARTED, error);
    _exit(127);
  }
  say(ends[1], CFILES_STARTED, child);
  // When the caller is killed, the terminal hangs up, and so does this process with all of the session.
  if (terminal >= 0) {
    sigset_t hangup;
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &hangup, NULL);
  }
  int status;
  do {
    if (waitpid(child, &status, WUNTRACED) != child) _exit(127);
    say(ends[1], CFILES_STATUS, status);
  } while (WIFSTOPPED(status));
  // The terminal hangs up when this process ends: not until the caller has read all of the output.
  char byte;
  while (recv(ends[1], &byte, 1, 0) < 0 && errno == EINTR) continue;
  _exit(0);

failed:
  close(ends[1]);
failed_after:;
  int number = errno;
  close(ends[0]);
  errno = number;
  return -1;
}

int cfiles_open_terminal(int *keyboard, int *programs) {
  int end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (end < 0) return -1;
  const char *name = grantpt(end) == 0 && unlockpt(end) == 0 ? ptsname(end) : NULL;
  *programs = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
  if (*programs < 0) {
    int number = errno;
    close(end);
    errno = number;
    return -1;
  }
  *keyboard = end;
  return 0;
}
