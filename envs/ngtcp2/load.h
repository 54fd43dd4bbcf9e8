/* Loading a page: the connection, its socket, its waiting. */
#ifndef LOAD_H
#define LOAD_H

#include "connection.h"
#include "page.h"

struct load {
  const struct settings *settings;
  SSL_CTX *context;
  struct page *page;
  struct connection *connection;
  struct object **by_stream;   /* of this connection, by stream ID / 4 */
  int socket;
  struct sockaddr_in local;
  struct ticket ticket;        /* the latest that a server gave */
  int moves_begun;
  bool moving;                 /* "move" was said, "moved" not yet heard */
};

/* A session ticket came: OpenSSL's callback for the context. */
int load_keep_session(SSL *ssl, SSL_SESSION *session);

/* Connect from `local` (any port): resumed and with early data if the ticket allows and it is asked for. */
void load_connect(struct load *load, struct in_addr local, bool resume, bool early);

/* Leave the socket and the connection without a word to the peer. */
void load_disconnect(struct load *load);

/* A socket bound to `local` and connected to the server; notes its address in load->local. */
int load_socket(struct load *load, struct in_addr local);

/* Load load->page on the connection that is there; quits on any failure. */
void load_run(struct load *load);

/* Keep the connection going until a session ticket came; quits if none does. */
void load_await_ticket(struct load *load);

/* Close the connection properly. */
void load_close(struct load *load);

#endif
