#include "settings.h"

#include <arpa/inet.h>
#include <string.h>

#include "environment.h"
#include "failure.h"

enum { MOST_MOVES = 1000 };

void read_told(struct told *told, const char *const *connections) {
  const char *address = required("ADDRESS");
  told->connection = (enum connection_kind)supported("CONNECTION", NULL, connections);
  told->host = required("HOST");
  told->port = required("PORT");
  told->certs = folder("CERTS");
  told->state = folder("STATE");
  told->keys = optional("SSLKEYLOGFILE", NULL);
  told->qlog = optional("QLOGDIR", NULL);
  told->address = (struct sockaddr_in){.sin_family = AF_INET};
  told->address.sin_port = htons((uint16_t)number("PORT", 1, UINT16_MAX, -1));
  if (inet_pton(AF_INET, address, &told->address.sin_addr) != 1)
    quit(EXIT_FAILURE, "ADDRESS %s is not an IPv4 address", address);
}

static struct request request_of(char *url, const char *host) {
  static const char scheme[] = "https://";
  const char *authority = url + strlen(scheme);
  size_t length = strlen(host);
  const char *path = strncmp(url, scheme, strlen(scheme)) == 0 ? strchr(authority, '/') : NULL;
  if (!path || strncmp(authority, host, length) != 0 || (authority[length] != ':' && authority[length] != '/'))
    quit(EXIT_FAILURE, "REQUESTS: %s is not https://%s/…", url, host);
  return (struct request){url, path};
}

void read_asked(struct asked *asked, const char *host) {
  static const char *const fetch[] = {"page", "sequential", NULL}, *const body[] = {"sha256", "length", NULL};
  /* They last as long as the program. */
  char *list = text_of("%s", required("REQUESTS")), *rest = NULL;
  asked->requests = allocate(strlen(list) / 2 + 1, sizeof *asked->requests);
  asked->count = 0;
  for (char *url = strtok_r(list, " ", &rest); url; url = strtok_r(NULL, " ", &rest))
    asked->requests[asked->count++] = request_of(url, host);
  if (asked->count == 0) quit(EXIT_FAILURE, "REQUESTS names no URL");
  asked->timing = required("TIMING");
  asked->sequential = supported("FETCH", fetch[0], fetch) == 1;
  asked->hashed = supported("BODY", body[0], body) == 0;
  asked->moves = (int)number("MOVES", 0, MOST_MOVES, 0);
}
