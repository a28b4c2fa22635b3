#include "cfiles.h"


static int count;
static char **arguments;

// glibc passes the arguments of main to every constructor, also in a static program.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
  count = argc;
  arguments = argv;
}

char **cfiles_arguments(int *number) {
  *number = count;
  return arguments;
}
