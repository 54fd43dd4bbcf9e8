#include "load.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "callbacks.h"
#include "moves.h"
#include "udp.h"

static struct object *object_of(struct load *load, int64_t stream) {
  struct object *o = stream / 4 < load->page->count ? load->by_stream[stream / 4] : NULL;
  if (!o) quit(EXIT_FAILURE, "the server answered on stream %lld, where nothing was asked", (long long)stream);
  return o;
}

static void on_head(void *user, int64_t stream, int status, int64_t length) {
  struct load *load = user;
  object_answered(load->page, object_of(load, stream), status, length);
}

static void on_body(void *user, int64_t stream, const uint8_t *bytes, size_t length) {
  struct load *load = user;
  object_received(load->page, object_of(load, stream), bytes, length);
}

static void on_end(void *user, int64_t stream) {
  struct load *load = user;
  object_ended(load->page, object_of(load, stream));
}

static void on_broken(void *user, int64_t stream) {
  quit(EXIT_FAILURE, "%s: the server broke the stream off", object_of(user, stream)->path);
}

static const struct handlers HANDLERS = {
    .head = on_head, .body = on_body, .end = on_end, .broken = on_broken};

int load_keep_session(SSL *ssl, SSL_SESSION *session) {
  ngtcp2_crypto_conn_ref *reference = SSL_get_app_data(ssl);
  struct connection *c = reference->user_data;
  struct load *load = c->user;
  struct ticket *ticket = &load->ticket;
  SSL_SESSION_free(ticket->session);
  ticket->session = session;
  ngtcp2_ssize length = ngtcp2_conn_encode_0rtt_transport_params(c->quic, ticket->parameters,
                                                                 sizeof ticket->parameters);
  ticket->parameters_length = length > 0 ? (size_t)length : 0;
  return 1; /* the session is ours */
}

int load_socket(struct load *load, struct in_addr local) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = local};
  int fd = udp_open(load->settings, &any);
  const struct sockaddr_in *server = &load->settings->told.address;
  socklen_t size = sizeof load->local;
  if (connect(fd, (const struct sockaddr *)server, sizeof *server) != 0 ||
      getsockname(fd, (struct sockaddr *)&load->local, &size) != 0)
    quit(EXIT_FAILURE, "ADDRESS: %s", strerror(errno));
  return fd;
}

void load_connect(struct load *load, struct in_addr local, bool resume, bool early) {
  static const struct ticket none;
  load->socket = load_socket(load, local);
  load->by_stream = allocate((size_t)load->page->count, sizeof *load->by_stream);
  load->connection = connection_to_server(load->settings, load->context, load->socket, &load->local,
                                          resume ? &load->ticket : &none, early, &HANDLERS, load);
  load->page->connections++;
}

void load_disconnect(struct load *load) {
  connection_free(load->connection);
  close(load->socket);
  free(load->by_stream);
}

void load_close(struct load *load) {
  connection_close(load->connection, 0);
  load_disconnect(load);
}

static void fail(struct load *load, int error) {
  connection_close(load->connection, error);
  quit(EXIT_FAILURE, "connection failed: %s", connection_reason(load->connection, error));
}

static void check(struct load *load, int error) {
  if (error) fail(load, error);
}

static void on_datagram(void *user, const struct sockaddr_in *from, const uint8_t *bytes, size_t length) {
  struct load *load = user;
  check(load, connection_read(load->connection, from, bytes, length));
}

/* Ask for all that may be asked for and for which the server allows a stream. */
static void request_more(struct load *load) {
  struct connection *c = load->connection;
  struct page *page = load->page;
  for (int i = 0; c->streams && i < page->count; i++) {
    struct object *o = &page->objects[i];
    if (o->requested || o->complete) continue;
    if (!page_may_request(page, i)) return;
    int64_t stream;
    if (ngtcp2_conn_open_bidi_stream(c->quic, &stream, NULL) != 0) return;
    load->by_stream[stream / 4] = o;
    o->requested = true;
    /* The first object's time begins with the connection. */
    if (i > 0 && !o->resumed_at) o->start_s = page_clock(page);
    if (c->protocol->request(c->streams, stream, o->path, o->resumed_at,
                             priority_of(page->settings->urgency, i, page->count)))
      quit(EXIT_FAILURE, "%s: cannot be asked for", o->path);
  }
}

static void wait(struct load *load) {
  uint64_t expiry = connection_expiry(load->connection), now = now_ns();
  uint64_t left = expiry > now ? expiry - now : 0;
  struct timespec timeout = {(time_t)(left / NGTCP2_SECONDS), (long)(left % NGTCP2_SECONDS)};
  struct pollfd ready[] = {{.fd = load->socket, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
  ppoll(ready, load->moving ? 2 : 1, expiry == UINT64_MAX ? NULL : &timeout, NULL);
  if (load->moving && ready[1].revents) moves_go(load);
}

/* What is told of a load is told of its first connection. */
static void note_handshake(struct load *load) {
  struct page *page = load->page;
  const struct connection *c = load->connection;
  SSL *ssl = c->ssl;
  page->handshake_s = (double)(c->handshake_ns - page->origin_ns) / 1e9;
  page->resumed = SSL_session_reused(ssl) == 1;
  page->early_data = c->early;
  const char *group = SSL_get0_group_name(ssl);
  snprintf(page->cipher, sizeof page->cipher, "%s", SSL_get_cipher_name(ssl));
  snprintf(page->group, sizeof page->group, "%s", group ? group : "");
}

/* The server refused the early data: what was asked for has not been heard. */
static void ask_again(struct load *load) {
  struct page *page = load->page;
  load->connection->early_rejected = false;
  for (int i = 0; i < page->count; i++) page->objects[i].requested &= page->objects[i].complete;
  memset(load->by_stream, 0, (size_t)page->count * sizeof *load->by_stream);
  check(load, connection_begin(load->connection));
}

static void step(struct load *load) {
  request_more(load);
  check(load, connection_write(load->connection));
  wait(load);
  int count = udp_receive(load->socket, on_datagram, load);
  if (count < 0 && !load->connection->handshake_ns)
    quit(EXIT_FAILURE, "connection refused: nobody listens there");
  if (connection_expiry(load->connection) <= now_ns())
    check(load, connection_expire(load->connection));
  if (load->connection->early_rejected) ask_again(load);
  if (!load->page->handshake_s && load->connection->handshake_ns) note_handshake(load);
  moves_check(load);
}

void load_run(struct load *load) {
  struct page *page = load->page;
  while (page->complete < page->count) step(load);
}

void load_await_ticket(struct load *load) {
  while (!load->ticket.session) step(load);
}
