#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>

// One request with libcurl. The library is opened on first use, so that building needs neither its headers nor the
// library, and a program without HTTP requests does not need it.

/// A request and the callbacks that receive the response. Redirects are not followed and nothing is decompressed.
struct ccurl_request {
  const char *url;
  /// Lines of the form `Name: value`.
  const char *const *headers;
  size_t header_count;
  long timeout_milliseconds;
  /// Receives each line of the header and each part of the body. Returning 0 aborts the request.
  int (*receive_head)(void *context, const char *bytes, size_t count);
  int (*receive_body)(void *context, const char *bytes, size_t count);
  /// Called repeatedly, at least once a second. Returning 0 aborts the request.
  int (*is_wanted)(void *context);
  void *context;
};

/// The reason why a request ended without a whole response.
enum ccurl_failure {
  CCURL_NO_LIBRARY = -1,
  CCURL_TIMED_OUT = 28,
};

/// Sends a GET request and receives the response on this thread. Returns 0, an error number of libcurl, or
/// CCURL_NO_LIBRARY.
int ccurl_get(const struct ccurl_request *request);

/// libcurl's text for an error number. It contains no value and is never freed.
const char *ccurl_reason(int failure);

/// How the target of a redirect relates to its source.
enum ccurl_step {
  /// The target is not an HTTP address, or not an address.
  CCURL_NOWHERE,
  /// The redirect is from HTTPS to HTTP.
  CCURL_DOWNGRADE,
  /// The target has a different scheme, host or port.
  CCURL_OTHER_ORIGIN,
  CCURL_SAME_ORIGIN,
};

/// Compares two addresses as libcurl parses them, so that a different parser cannot send a header to the wrong server.
enum ccurl_step ccurl_step(const char *from, const char *to);

/// Resolves `location` relative to an address. Returns an absolute address, which the caller frees; null if it is not
/// valid.
char *ccurl_resolve(const char *from, const char *location);

#endif
