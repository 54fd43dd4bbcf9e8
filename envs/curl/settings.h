/* What the environment asks of page-client: docs/formats.md, section 2. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

enum { EXIT_NOT_SUPPORTED = 127 };

enum connection { COLD, RESUMED, EARLY };

struct settings {
  const char *protocol;      /* h1, h2, h3 */
  long http_version;         /* to ask of libcurl: CURL_HTTP_VERSION_... */
  long http_version_used;    /* what libcurl must report afterwards */
  enum connection connection;
  int connections;           /* most connections at once; 1 unless h1 */
  const char *group;         /* of the TLS key exchange */
  const char *ciphers;       /* of TLS 1.3; NULL: OpenSSL's own order */
  bool verify;               /* the server's certificate */
  int socket_buffer_bytes;   /* 0: leave alone */
  bool sequential;           /* one URL after the other; otherwise the HTML, then all others */
  bool hash_bodies;
  int moves;                 /* changes of address to come */
  const char *requests;      /* URLs separated by spaces */
  const char *timing;        /* file to write */
  char *resolve;             /* HOST:PORT:ADDRESS */
  char *prime_url;
  char *ca;                  /* file of the authority */
};

/* Print "page-client: reason" and exit with status. */
void quit(int status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Allocate or quit. */
void *allocate(unsigned long count, unsigned long size);

#endif
