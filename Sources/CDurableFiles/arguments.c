#include "cfiles.h"

#ifdef __APPLE__
#include <crt_externs.h>
#endif

#ifdef __GLIBC__
static int count;
static char **arguments;

// glibc passes the arguments of main to every constructor, also in a static program.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
  count = argc;
  arguments = argv;
}
#endif

char **cfiles_arguments(int *number) {
#if defined(__GLIBC__)
  *number = count;
  return arguments;
#elif defined(__APPLE__)
  *number = *_NSGetArgc();
  return *_NSGetArgv();
#else
  *number = 0;
  return NULL;
#endif
}
