/* One QUIC connection of either role: ngtcp2, its TLS, its streams, its qlog. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_ossl.h>
#include <openssl/ssl.h>
#include <stdio.h>

#include "settings.h"
#include "streams.h"

enum { CID_BYTES = 8 };  /* of the IDs that we choose: number of the connection, then random bytes */

struct connection {
  const struct settings *settings;
  const struct protocol *protocol;
  ngtcp2_conn *quic;
  struct streams *streams;     /* NULL until keys allow */
  const struct handlers *handlers;
  void *user;
  SSL *ssl;
  ngtcp2_crypto_ossl_ctx *tls;
  ngtcp2_crypto_conn_ref reference;
  FILE *qlog;
  ngtcp2_ccerr error;
  int socket;
  struct sockaddr_in local, remote;  /* remote: where the last packets came from or go to */
  uint32_t number;
  ngtcp2_cid original;         /* the ID that the client chose for the server at first */
  uint64_t handshake_ns;       /* when the handshake was complete, else 0 */
  bool early;                  /* client: requests went out before the handshake */
  bool early_rejected;         /* they came to nothing; streams is NULL until connection_begin */
};

/* What a client keeps of a connection for the next one. */
struct ticket {
  SSL_SESSION *session;        /* NULL: none */
  uint8_t parameters[256];     /* the server's transport parameters, encoded */
  size_t parameters_length;    /* 0: none */
};

/* A client's connection from `local`, resumed if the ticket has a session; with early data if `early`. */
struct connection *connection_to_server(const struct settings *s, SSL_CTX *context, int socket,
                                        const struct sockaddr_in *local, const struct ticket *ticket,
                                        bool early, const struct handlers *handlers, void *user);

/* A server's connection for a client's first packet. */
struct connection *connection_to_client(const struct settings *s, SSL_CTX *context, int socket,
                                        const struct sockaddr_in *from, const ngtcp2_pkt_hd *first,
                                        uint32_t number, const struct handlers *handlers, void *user);

/* Take a datagram. Returns 0, or an error of ngtcp2's (NGTCP2_ERR_DRAINING: the peer closed). */
int connection_read(struct connection *c, const struct sockaddr_in *from, const uint8_t *bytes,
                    size_t length);

/* Send what may be sent now. Returns as connection_read. */
int connection_write(struct connection *c);

/* When something must be done without a datagram: ngtcp2's clock (ns), UINT64_MAX for never. */
uint64_t connection_expiry(struct connection *c);

/* Do what is due. Returns as connection_read. */
int connection_expire(struct connection *c);

/* Tell the peer that this ends: by the error met, or as done. */
void connection_close(struct connection *c, int error);

/* The reason of a failure in words. */
const char *connection_reason(struct connection *c, int error);

void connection_free(struct connection *c);

#endif
