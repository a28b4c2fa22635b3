#include "toolbuild.h"

#include <stddef.h>
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
