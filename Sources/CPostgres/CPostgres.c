#ifdef SECRETPREFS_POSTGRESQL
#include "CPostgres.h"

#include <dlfcn.h>

#define MEMBER(result, name, parameters, arguments) __typeof__(name) *name;
static struct {
  SECRETPREFS_LIBPQ(MEMBER)
} libpq;

#define CALL(result, name, parameters, arguments) \
  result lazy##name parameters { return libpq.name arguments; }
SECRETPREFS_LIBPQ(CALL)

int lazyPQload(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
#define FIND(result, name, parameters, arguments) \
  if (!(libpq.name = (__typeof__(name) *)dlsym(library, #name))) return 0;
  SECRETPREFS_LIBPQ(FIND)
  return 1;
}
#endif
