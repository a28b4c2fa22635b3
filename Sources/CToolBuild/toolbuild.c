#include "toolbuild.h"

#include <stddef.h>
#ifdef __linux__
#include <features.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

const char *toolbuild_commit(void) {
#ifdef SECRETPREFS_COMMIT
  return SECRETPREFS_COMMIT;
#else
  return NULL;
#endif
}

const char *toolbuild_glibc(void) {
#ifdef __GLIBC__
  return gnu_get_libc_version();
#else
  return NULL;
#endif
}
