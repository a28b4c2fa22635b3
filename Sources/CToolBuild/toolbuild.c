#include "toolbuild.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <features.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

// Scripts/build writes the commit into this section when the tool is linked. With a define, each commit would compile
// the whole tool again. It is not const, so that the compiler cannot take it for empty.
#ifdef __ELF__
__attribute__((section(".secretprefs.commit")))
#endif
char toolbuild_written_commit[64] = "";

static const char root_variable[] = "SWIFT_ROOT";
static int has_set_root = 0;

// The Swift runtime looks for its own files beside the program when it starts, and ends the program if there is no
// /proc, as in a chroot. It needs none of them here. Earlier than the runtime's own constructors.
__attribute__((constructor(101))) static void set_root(void) {
  char byte;
  has_set_root = readlink("/proc/self/exe", &byte, 1) < 0 && !getenv(root_variable) && !setenv(root_variable, "/", 0);
}

void toolbuild_unset_root(void) {
  if (has_set_root) unsetenv(root_variable);
  has_set_root = 0;
}

const char *toolbuild_commit(void) {
  return toolbuild_written_commit[0] ? toolbuild_written_commit : NULL;
}

const char *toolbuild_glibc(void) {
#ifdef __GLIBC__
  return gnu_get_libc_version();
#else
  return NULL;
#endif
}
