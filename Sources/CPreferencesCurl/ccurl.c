#include "ccurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// The numbers are part of libcurl's ABI, which has not changed since libcurl.so.4 was released in 2006.
enum {
  GLOBAL_DEFAULT = 3,

  OPTION_NOPROGRESS = 43,
  OPTION_NOSIGNAL = 99,
  OPTION_TIMEOUT_MS = 155,
  OPTION_HTTP_CONTENT_DECODING = 158,
  OPTION_PROTOCOLS = 181,
  OPTION_SUPPRESS_CONNECT_HEADERS = 265,
  OPTION_HTTP09_ALLOWED = 285,
  OPTION_WRITEDATA = 10001,
  OPTION_URL = 10002,
  OPTION_HTTPHEADER = 10023,
  OPTION_HEADERDATA = 10029,
  OPTION_XFERINFODATA = 10057,
  OPTION_WRITEFUNCTION = 20011,
  OPTION_HEADERFUNCTION = 20079,
  OPTION_XFERINFOFUNCTION = 20219,

  PROTOCOL_HTTP = 1,
  PROTOCOL_HTTPS = 2,

  URL_PART_WHOLE = 0,
  URL_PART_SCHEME = 1,
  URL_PART_HOST = 5,
  URL_PART_PORT = 6,
  URL_DEFAULT_PORT = 1,
  URL_ENCODE = 128,
};

static struct {
  int (*global_init)(long flags);
  void *(*easy_init)(void);
  int (*easy_setopt)(void *handle, int option, ...);
  int (*easy_perform)(void *handle);
  void (*easy_cleanup)(void *handle);
  const char *(*easy_strerror)(int code);
  void *(*slist_append)(void *list, const char *text);
  void (*slist_free_all)(void *list);
  void *(*url)(void);
  void (*url_cleanup)(void *url);
  int (*url_set)(void *url, int part, const char *text, unsigned flags);
  int (*url_get)(void *url, int part, char **text, unsigned flags);
  void (*free)(void *text);
} curl;

static int is_open;

static int find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

static void open_library(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  is_open = find(library, "curl_global_init", &curl.global_init) && find(library, "curl_easy_init", &curl.easy_init) &&
            find(library, "curl_easy_setopt", &curl.easy_setopt) &&
            find(library, "curl_easy_perform", &curl.easy_perform) &&
            find(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
            find(library, "curl_easy_strerror", &curl.easy_strerror) &&
            find(library, "curl_slist_append", &curl.slist_append) &&
            find(library, "curl_slist_free_all", &curl.slist_free_all) && find(library, "curl_url", &curl.url) &&
            find(library, "curl_url_cleanup", &curl.url_cleanup) && find(library, "curl_url_set", &curl.url_set) &&
            find(library, "curl_url_get", &curl.url_get) && find(library, "curl_free", &curl.free) &&
            curl.global_init(GLOBAL_DEFAULT) == 0;
}

static int has_library(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  return is_open;
}

static size_t receive_head(char *bytes, size_t size, size_t count, void *request) {
  const struct ccurl_request *to = request;
  return to->receive_head(to->context, bytes, size * count) ? size * count : 0;
}

static size_t receive_body(char *bytes, size_t size, size_t count, void *request) {
  const struct ccurl_request *to = request;
  return to->receive_body(to->context, bytes, size * count) ? size * count : 0;
}

static int report(void *request, int64_t expected, int64_t received, int64_t to_send, int64_t sent) {
  const struct ccurl_request *to = request;
  return !to->is_wanted(to->context);
}

static int perform(void *handle, const struct ccurl_request *request, void *headers) {
  // These options must succeed. The later ones may fail: an old library that does not know them does not need them.
  int failure = curl.easy_setopt(handle, OPTION_URL, request->url);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
  if (!failure) failure = curl.easy_setopt(handle, OPTION_HTTPHEADER, headers);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_TIMEOUT_MS, request->timeout_milliseconds);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_HEADERFUNCTION, receive_head);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_HEADERDATA, request);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_WRITEFUNCTION, receive_body);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_WRITEDATA, request);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_XFERINFOFUNCTION, report);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_XFERINFODATA, request);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_NOPROGRESS, 0L);
  if (!failure) failure = curl.easy_setopt(handle, OPTION_NOSIGNAL, 1L);
  if (failure) return failure;
  curl.easy_setopt(handle, OPTION_HTTP_CONTENT_DECODING, 0L);
  curl.easy_setopt(handle, OPTION_SUPPRESS_CONNECT_HEADERS, 1L);
  curl.easy_setopt(handle, OPTION_HTTP09_ALLOWED, 0L);
  return curl.easy_perform(handle);
}

int ccurl_get(const struct ccurl_request *request) {
  if (!has_library()) return CCURL_NO_LIBRARY;

  const int out_of_memory = 27;
  void *headers = NULL;
  for (size_t i = 0; i < request->header_count; i++) {
    void *longer = curl.slist_append(headers, request->headers[i]);
    if (!longer) {
      curl.slist_free_all(headers);
      return out_of_memory;
    }
    headers = longer;
  }

  int failure = out_of_memory;
  void *handle = curl.easy_init();
  if (handle) {
    failure = perform(handle, request, headers);
    curl.easy_cleanup(handle);
  }
  curl.slist_free_all(headers);
  return failure;
}

const char *ccurl_reason(int failure) {
  return failure == CCURL_NO_LIBRARY ? "libcurl.so.4 is not installed" : curl.easy_strerror(failure);
}

struct origin {
  char *scheme, *host, *port;
};

static struct origin read_origin(const char *address) {
  struct origin origin = {NULL, NULL, NULL};
  void *url = curl.url();
  if (url && curl.url_set(url, URL_PART_WHOLE, address, 0) == 0) {
    curl.url_get(url, URL_PART_SCHEME, &origin.scheme, 0);
    curl.url_get(url, URL_PART_HOST, &origin.host, 0);
    curl.url_get(url, URL_PART_PORT, &origin.port, URL_DEFAULT_PORT);
  }
  if (url) curl.url_cleanup(url);
  return origin;
}

static void free_origin(struct origin origin) {
  curl.free(origin.scheme);
  curl.free(origin.host);
  curl.free(origin.port);
}

static int is_known(struct origin origin) {
  return origin.scheme && origin.host && origin.port &&
         (strcasecmp(origin.scheme, "http") == 0 || strcasecmp(origin.scheme, "https") == 0);
}

enum ccurl_step ccurl_step(const char *from, const char *to) {
  if (!has_library()) return CCURL_NOWHERE;
  struct origin old = read_origin(from), new = read_origin(to);
  enum ccurl_step step = CCURL_OTHER_ORIGIN;
  if (!is_known(old) || !is_known(new)) {
    step = CCURL_NOWHERE;
  } else if (strcasecmp(old.scheme, "https") == 0 && strcasecmp(new.scheme, "https") != 0) {
    step = CCURL_DOWNGRADE;
  } else if (strcasecmp(old.scheme, new.scheme) == 0 && strcasecmp(old.host, new.host) == 0 &&
             strcmp(old.port, new.port) == 0) {
    step = CCURL_SAME_ORIGIN;
  }
  free_origin(old);
  free_origin(new);
  return step;
}

char *ccurl_resolve(const char *from, const char *location) {
  if (!has_library()) return NULL;
  char *text = NULL, *resolved = NULL;
  void *url = curl.url();
  // Setting a URL a second time resolves it relative to the first.
  if (url && curl.url_set(url, URL_PART_WHOLE, from, 0) == 0 &&
      curl.url_set(url, URL_PART_WHOLE, location, URL_ENCODE) == 0 &&
      curl.url_get(url, URL_PART_WHOLE, &text, 0) == 0)
    resolved = strdup(text);
  curl.free(text);
  if (url) curl.url_cleanup(url);
  return resolved;
}
