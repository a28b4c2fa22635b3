#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>

// One request by libcurl. The library is opened when it is first needed, so that building takes neither its headers nor
// the library, and who asks for nothing over HTTP need not have it.

/// What is asked for, and who hears the answer. Redirects are not followed and nothing is decompressed.
struct ccurl_request {
  const char *url;
  /// Lines of the form `Name: value`.
  const char *const *headers;
  size_t header_count;
  long timeout_milliseconds;
  /// Gets each line of the head and each piece of the body. Zero breaks off.
  int (*receive_head)(void *context, const char *bytes, size_t count);
  int (*receive_body)(void *context, const char *bytes, size_t count);
  /// Asked all the time, at least once a second. Zero breaks off.
  int (*is_wanted)(void *context);
  void *context;
};

/// How a request ended, without having come to a whole answer.
enum ccurl_failure {
  CCURL_NO_LIBRARY = -1,
  CCURL_TIMED_OUT = 28,
};

/// Sends a GET request and receives the answer on this thread. 0, or a number of libcurl's, or CCURL_NO_LIBRARY.
int ccurl_get(const struct ccurl_request *request);

/// What libcurl calls a failure: text without any value, never freed.
const char *ccurl_reason(int failure);

/// Where one address leads, seen from another.
enum ccurl_step {
  /// Not to HTTP, or nobody knows where.
  CCURL_NOWHERE,
  /// From HTTPS to plain HTTP.
  CCURL_DOWNGRADE,
  /// To another scheme, host or port.
  CCURL_OTHER_ORIGIN,
  CCURL_SAME_ORIGIN,
};

/// As libcurl itself reads both addresses, so that no other reading of them lets a header go astray.
enum ccurl_step ccurl_step(const char *from, const char *to);

/// Where `location` leads from an address, absolute and to be freed; null where it leads nowhere.
char *ccurl_resolve(const char *from, const char *location);

#endif
