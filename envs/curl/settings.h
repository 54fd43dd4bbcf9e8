/* What the environment asks of page-client: docs/formats.md, section 2. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

#include "contract/failure.h"
#include "contract/settings.h"
#include "contract/urgency.h"

struct settings {
  const char *protocol;      /* h1, h2, h3 */
  long http_version;         /* to ask of libcurl: CURL_HTTP_VERSION_... */
  long http_version_used;    /* what libcurl must report afterwards */
  struct told told;
  struct asked asked;
  int connections;           /* most connections at once; 1 unless h1 */
  const char *group;         /* of the TLS key exchange */
  const char *ciphers;       /* of TLS 1.3; NULL: OpenSSL's own order */
  bool verify;               /* the server's certificate */
  int socket_buffer_bytes;   /* 0: leave alone */
  enum urgency urgency;
  char *resolve;             /* HOST:PORT:ADDRESS */
  char *prime_url;
  char *ca;                  /* file of the authority */
};

/* Read and check everything; quits with 127 for what is not supported and 1 for what is wrong. */
void read_settings(struct settings *s);

#endif
