/* What both roles are told, and what a client is told of its load. */
#ifndef CONTRACT_SETTINGS_H
#define CONTRACT_SETTINGS_H

#include <netinet/in.h>
#include <stdbool.h>

enum connection_kind { COLD, RESUMED, EARLY };
/* Their words, in this order; a list of what a program can do may end earlier. */
#define CONNECTION_WORDS "cold", "resumed", "0rtt"

struct told {
  const char *host, *port, *certs, *state;
  struct sockaddr_in address;  /* to bind (server) or to connect to (client) */
  enum connection_kind connection;
  const char *keys, *qlog;     /* file and folder; NULL: off */
};

/* Read what both roles are told but PROTOCOL and CONGESTION_CONTROL; `connections` are the first of
   CONNECTION_WORDS, and NULL. */
void read_told(struct told *told, const char *const *connections);

struct request {
  char *url;
  const char *path;            /* within url */
};

struct asked {
  struct request *requests;    /* the HTML first */
  int count;                   /* at least 1 */
  const char *timing;          /* file to write */
  bool sequential;             /* one URL after the other; otherwise the HTML, then all others */
  bool hashed;                 /* bodies are hashed; otherwise only counted */
  int moves;                   /* changes of address to come */
};

/* Read what a client is to load from `host`. */
void read_asked(struct asked *asked, const char *host);

#endif
