/* HTTP/3 and HTTP/0.9 over QUIC server on ngtcp2: docs/formats.md, section 2. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "connection.h"
#include "content.h"
#include "contract/aes.h"
#include "tls.h"
#include "udp.h"

enum { MOST_CONNECTIONS = 256 };

struct server {
  struct settings settings;
  SSL_CTX *context;
  int socket;
  struct peer {
    struct server *server;
    struct connection *connection;  /* NULL: free */
    bool heard;
  } peers[MOST_CONNECTIONS];
  uint32_t next_number;
};

static volatile sig_atomic_t stop;
static void on_signal(int number) { stop = number; }

static void on_request(void *user, int64_t stream, const char *path, bool ranged, uint64_t first) {
  struct peer *peer = user;
  struct answer answer = content_answer(peer->server->settings.www, path, ranged, first);
  peer->connection->protocol->respond(peer->connection->streams, stream, &answer);
}

static const struct handlers HANDLERS = {.request = on_request};

static void drop(struct peer *peer, int error) {
  if (error != NGTCP2_ERR_DRAINING && error != NGTCP2_ERR_IDLE_CLOSE &&
      error != NGTCP2_ERR_HANDSHAKE_TIMEOUT && error != NGTCP2_ERR_DROP_CONN) {
    if (error)
      fprintf(stderr, "ngtcp2: connection lost: %s\n", connection_reason(peer->connection, error));
    connection_close(peer->connection, error);
  }
  connection_free(peer->connection);
  peer->connection = NULL;
}

/* The connection a datagram belongs to: our IDs begin with its number, a client's first one is remembered. */
static struct peer *find(struct server *server, const ngtcp2_version_cid *id) {
  uint32_t number = 0;
  if (id->dcidlen == CID_BYTES) memcpy(&number, id->dcid, sizeof number);
  for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
    struct connection *c = server->peers[i].connection;
    if (!c) continue;
    if (id->dcidlen == CID_BYTES && c->number == number) return &server->peers[i];
    if (c->original.datalen == id->dcidlen && memcmp(c->original.data, id->dcid, id->dcidlen) == 0)
      return &server->peers[i];
  }
  return NULL;
}

static void negotiate_version(struct server *server, const struct sockaddr_in *from,
                              const ngtcp2_version_cid *id) {
  const uint32_t versions[] = {NGTCP2_PROTO_VER_V1};
  uint8_t bytes[256], random;
  fill_random(&random, 1);
  ngtcp2_ssize length = ngtcp2_pkt_write_version_negotiation(
      bytes, sizeof bytes, random, id->scid, id->scidlen, id->dcid, id->dcidlen, versions, 1);
  if (length > 0)
    udp_send(server->socket, from, bytes, (size_t)length, (size_t)length, false);
}

static struct peer *accept_peer(struct server *server, const struct sockaddr_in *from,
                                const uint8_t *bytes, size_t length) {
  ngtcp2_pkt_hd first;
  if (ngtcp2_accept(&first, bytes, length) != 0 || first.type != NGTCP2_PKT_INITIAL) return NULL;
  for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
    struct peer *peer = &server->peers[i];
    if (peer->connection) continue;
    peer->server = server;
    peer->connection = connection_to_client(&server->settings, server->context, server->socket, from,
                                            &first, ++server->next_number, &HANDLERS, peer);
    return peer->connection ? peer : NULL;
  }
  return NULL;
}

static void on_datagram(void *user, const struct sockaddr_in *from, const uint8_t *bytes, size_t length) {
  struct server *server = user;
  ngtcp2_version_cid id;
  int outcome = ngtcp2_pkt_decode_version_cid(&id, bytes, length, CID_BYTES);
  if (outcome != 0 && outcome != NGTCP2_ERR_VERSION_NEGOTIATION) return;
  struct peer *peer = find(server, &id);
  if (!peer && outcome == NGTCP2_ERR_VERSION_NEGOTIATION) {
    /* RFC 9000, section 6: only to datagrams long enough to open a connection. */
    if (length >= NGTCP2_MAX_UDP_PAYLOAD_SIZE) negotiate_version(server, from, &id);
    return;
  }
  if (!peer) peer = accept_peer(server, from, bytes, length);
  if (!peer) return;
  int error = connection_read(peer->connection, from, bytes, length);
  if (error) drop(peer, error);
  else peer->heard = true;
}

static void serve_peer(struct peer *peer, uint64_t now) {
  int error = 0;
  bool due = connection_expiry(peer->connection) <= now;
  if (!due && !peer->heard) return;
  peer->heard = false;
  if (due) error = connection_expire(peer->connection);
  if (!error) error = connection_write(peer->connection);
  if (error) drop(peer, error);
}

static void wait(struct server *server, const sigset_t *during) {
  uint64_t expiry = UINT64_MAX, now = now_ns();
  for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
    struct connection *c = server->peers[i].connection;
    if (c && connection_expiry(c) < expiry) expiry = connection_expiry(c);
  }
  uint64_t left = expiry > now ? expiry - now : 0;
  struct timespec timeout = {(time_t)(left / NGTCP2_SECONDS), (long)(left % NGTCP2_SECONDS)};
  struct pollfd readable = {.fd = server->socket, .events = POLLIN};
  ppoll(&readable, 1, expiry == UINT64_MAX ? NULL : &timeout, during);
}

static void serve(struct server *server) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  signal(SIGTERM, on_signal);
  signal(SIGINT, on_signal);
  while (!stop) {
    wait(server, &before);
    udp_receive(server->socket, on_datagram, server);
    uint64_t now = now_ns();
    for (size_t i = 0; i < MOST_CONNECTIONS; i++)
      if (server->peers[i].connection) serve_peer(&server->peers[i], now);
  }
  for (size_t i = 0; i < MOST_CONNECTIONS; i++)
    if (server->peers[i].connection) drop(&server->peers[i], 0);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    printf("ngtcp2 %s, nghttp3 %s\n", ngtcp2_version(0)->version_str, nghttp3_version(0)->version_str);
    return EXIT_SUCCESS;
  }
  name_program("ngtcp2 server");
  choose_aes(argv);
  struct server *server = allocate(1, sizeof *server);
  read_settings(&server->settings, true);
  ngtcp2_crypto_ossl_init();
  server->context = tls_context(&server->settings, NULL);
  server->socket = udp_open(&server->settings, &server->settings.told.address);
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0); /* ns: pacing needs the time it asks for */
  serve(server);
  SSL_CTX_free(server->context);
  free(server);
  return EXIT_SUCCESS;
}
