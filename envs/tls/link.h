/* The client's connection, which never blocks longer than the patience of the settings. */
#ifndef LINK_H
#define LINK_H

#include "secure.h"

struct link {
    const struct settings *settings;
    int socket;
    SSL *ssl;
    double handshake_s; /* since the moment the connection was begun */
    int watched;        /* a descriptor that may interrupt a wait; -1: none */
};

/* What a read came to. */
enum taken { BYTES, INTERRUPTED, BROKEN };

/* Seconds of a clock that only goes forward. */
double now_s(void);

/* The context of all connections; `session` is given to the callback's owner when a ticket comes. */
SSL_CTX *client_context(const struct settings *settings, SSL_SESSION **session);

/* Connects from `local` (NULL: any) and shakes hands; `early` bytes, if any, are sent before.
 * NULL if that failed; why_broken() then tells. */
struct link *open_link(const struct settings *settings, SSL_CTX *context, SSL_SESSION *session,
                       const struct in_addr *local, const char *early);
bool send_text(struct link *link, const char *text);
/* Reads at most `room` bytes. INTERRUPTED: the watched descriptor has something to read. */
enum taken take(struct link *link, void *into, size_t room, size_t *taken);
/* Ends the connection: with a word to the peer, or without where it could not hear it. */
void close_link(struct link *link, bool tell);
const char *why_broken(void);

#endif
