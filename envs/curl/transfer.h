/* One object: its libcurl handle, its times and its hash. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <curl/curl.h>
#include <openssl/evp.h>
#include <stdbool.h>

#include "settings.h"

struct transfer {
  const char *path;              /* within the URL */
  CURL *easy;
  struct curl_slist *headers;    /* further ones of the request; NULL: none */
  EVP_MD_CTX *hash;
  double origin;                 /* monotonic time of the page's start, s */
  double start_s, first_byte_s, end_s; /* since origin */
  long long bytes;
  long status;
  char sha256[2 * EVP_MAX_MD_SIZE + 1];
  long connects;                 /* connections this transfer opened: 0 or 1 */
  bool session_known, session_reused;
  bool started, done;
  bool broken;                   /* its connection failed while the address was gone */
  long long expected;            /* length of the whole body, once known; -1 before */
  long long resumed_at;          /* byte from which the present request asks */
};

/* Monotonic clock in seconds. */
double monotonic_s(void);

/* Prepare a handle for a request; sessions is the cache shared with earlier connections or NULL. */
void transfer_prepare(struct transfer *t, const struct settings *s, const struct request *request, CURLSH *sessions);

/* Have the request say how urgent it is (RFC 9218); NULL: it says nothing. */
void transfer_prioritize(struct transfer *t, const char *priority);

/* Add the handle to multi and note the start. */
void transfer_start(struct transfer *t, CURLM *multi, double origin);

/* Ask for what is missing, from the local address `interface`, with a full handshake. */
void transfer_resume(struct transfer *t, const struct settings *s, CURLM *multi, const char *interface);

/* Note the end; quit unless it worked with status 200 and the protocol asked for. */
void transfer_finish(struct transfer *t, const struct settings *s, CURLcode result);

void transfer_free(struct transfer *t);

#endif
