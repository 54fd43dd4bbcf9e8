#include "connection.h"

#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "tls.h"
#include "udp.h"

enum { VECTORS = 16, MAX_BURST_BYTES = 65000 };

static ngtcp2_path path_of(struct connection *c, const struct sockaddr_in *from) {
  return (ngtcp2_path){.local = {(ngtcp2_sockaddr *)&c->local, sizeof c->local},
                       .remote = {(ngtcp2_sockaddr *)from, sizeof *from}};
}

static ngtcp2_conn *quic_of(ngtcp2_crypto_conn_ref *reference) {
  return ((struct connection *)reference->user_data)->quic;
}

static void write_qlog(void *user, uint32_t flags, const void *data, size_t length) {
  struct connection *c = user;
  (void)flags;
  if (c->qlog) fwrite(data, 1, length, c->qlog);
}

static void open_qlog(struct connection *c) {
  char name[2 * NGTCP2_MAX_CIDLEN + 1] = "";
  for (size_t i = 0; i < c->original.datalen; i++) sprintf(name + 2 * i, "%02x", c->original.data[i]);
  char *file = text_of("%s/%s.sqlog", c->settings->told.qlog, name);
  c->qlog = fopen(file, "w");
  if (!c->qlog) quit(EXIT_FAILURE, "QLOGDIR: %s cannot be written", file);
  free(file);
}

static void fill_settings(struct connection *c, ngtcp2_settings *q) {
  const struct settings *s = c->settings;
  ngtcp2_settings_default(q);
  q->initial_ts = now_ns();
  q->cc_algo = s->congestion_control;
  q->initial_rtt = s->initial_rtt_ms * NGTCP2_MILLISECONDS;
  q->max_tx_udp_payload_size = s->max_udp_payload;
  /* One size from the first packet to the last: probes for a longer one would be losses. */
  q->no_tx_udp_payload_size_shaping = 1;
  q->no_pmtud = 1;
  q->ack_thresh = s->ack_packets;
  q->handshake_timeout = s->idle_timeout_s * NGTCP2_SECONDS;
  if (s->told.qlog) q->qlog_write = write_qlog;
}

static void fill_parameters(const struct settings *s, ngtcp2_transport_params *p) {
  ngtcp2_transport_params_default(p);
  p->initial_max_data = s->initial_max_data;
  p->initial_max_stream_data_bidi_local = s->initial_max_stream_data;
  p->initial_max_stream_data_bidi_remote = s->initial_max_stream_data;
  p->initial_max_stream_data_uni = s->initial_max_stream_data;
  p->initial_max_streams_bidi = s->server ? s->max_streams : 0;
  p->initial_max_streams_uni = 3;  /* HTTP/3's control stream and QPACK's two */
  p->max_idle_timeout = s->idle_timeout_s * NGTCP2_SECONDS;
  p->active_connection_id_limit = 7;
}

static struct connection *new_connection(const struct settings *s, int socket,
                                         const struct handlers *handlers, void *user) {
  struct connection *c = allocate(1, sizeof *c);
  c->settings = s;
  c->protocol = s->h3 ? &HTTP3 : &HTTP09;
  c->socket = socket;
  c->handlers = handlers;
  c->user = user;
  c->local = s->told.address;
  ngtcp2_ccerr_default(&c->error);
  return c;
}

static void attach_tls(struct connection *c, SSL_CTX *context) {
  c->ssl = tls_session(context, c->settings);
  c->reference = (ngtcp2_crypto_conn_ref){quic_of, c};
  SSL_set_app_data(c->ssl, &c->reference);
  int failed = c->settings->server ? ngtcp2_crypto_ossl_configure_server_session(c->ssl)
                                   : ngtcp2_crypto_ossl_configure_client_session(c->ssl);
  if (failed || ngtcp2_crypto_ossl_ctx_new(&c->tls, c->ssl))
    quit(EXIT_FAILURE, "OpenSSL does not take QUIC");
  if (c->settings->server && c->settings->told.connection == EARLY)
    SSL_set_quic_tls_early_data_enabled(c->ssl, 1);
  ngtcp2_conn_set_tls_native_handle(c->quic, c->tls);
}

void make_cid(ngtcp2_cid *cid, uint32_t number) {
  cid->datalen = CID_BYTES;
  memcpy(cid->data, &number, sizeof number);
  fill_random(cid->data + sizeof number, CID_BYTES - sizeof number);
}

static void set_early(struct connection *c, const struct ticket *ticket) {
  if (SSL_SESSION_get_max_early_data(ticket->session) == 0 || !ticket->parameters_length) return;
  if (ngtcp2_conn_decode_and_set_0rtt_transport_params(c->quic, ticket->parameters,
                                                       ticket->parameters_length))
    return;
  SSL_set_quic_tls_early_data_enabled(c->ssl, 1);
  c->early = true;
  connection_begin(c);
}

struct connection *connection_to_server(const struct settings *s, SSL_CTX *context, int socket,
                                        const struct sockaddr_in *local, const struct ticket *ticket,
                                        bool early, const struct handlers *handlers, void *user) {
  struct connection *c = new_connection(s, socket, handlers, user);
  c->local = *local;
  c->remote = s->told.address;
  ngtcp2_cid own;
  make_cid(&own, 0);
  c->original.datalen = 16;
  fill_random(c->original.data, c->original.datalen);
  if (s->told.qlog) open_qlog(c);
  ngtcp2_settings q;
  ngtcp2_transport_params parameters;
  fill_settings(c, &q);
  fill_parameters(s, &parameters);
  ngtcp2_path path = path_of(c, &c->remote);
  if (ngtcp2_conn_client_new(&c->quic, &c->original, &own, &path, NGTCP2_PROTO_VER_V1,
                             client_callbacks(), &q, &parameters, NULL, c))
    quit(EXIT_FAILURE, "no connection can be made");
  attach_tls(c, context);
  if (ticket->session) {
    SSL_set_session(c->ssl, ticket->session);
    if (early) set_early(c, ticket);
  }
  return c;
}

struct connection *connection_to_client(const struct settings *s, SSL_CTX *context, int socket,
                                        const struct sockaddr_in *from, const ngtcp2_pkt_hd *first,
                                        uint32_t number, const struct handlers *handlers, void *user) {
  struct connection *c = new_connection(s, socket, handlers, user);
  c->remote = *from;
  c->number = number;
  c->original = first->dcid;
  if (s->told.qlog) open_qlog(c);
  ngtcp2_cid own;
  make_cid(&own, number);
  ngtcp2_settings q;
  ngtcp2_transport_params parameters;
  fill_settings(c, &q);
  fill_parameters(s, &parameters);
  parameters.original_dcid = first->dcid;
  parameters.original_dcid_present = 1;
  ngtcp2_path path = path_of(c, from);
  if (ngtcp2_conn_server_new(&c->quic, &first->scid, &own, &path, first->version, server_callbacks(),
                             &q, &parameters, NULL, c)) {
    connection_free(c);
    return NULL;
  }
  attach_tls(c, context);
  return c;
}

/* Remember why, so that the peer is told. */
static int failed(struct connection *c, int error) {
  if (error == NGTCP2_ERR_CRYPTO)
    ngtcp2_ccerr_set_tls_alert(&c->error, ngtcp2_conn_get_tls_alert(c->quic), NULL, 0);
  else if (!c->error.error_code)
    ngtcp2_ccerr_set_liberr(&c->error, error, NULL, 0);
  return error;
}

int connection_read(struct connection *c, const struct sockaddr_in *from, const uint8_t *bytes,
                    size_t length) {
  ngtcp2_path path = path_of(c, from);
  ngtcp2_pkt_info information = {0};
  int error = ngtcp2_conn_read_pkt(c->quic, &path, &information, bytes, length, now_ns());
  return error ? failed(c, error) : 0;
}

static ngtcp2_ssize write_packet(ngtcp2_conn *quic, ngtcp2_path *path, ngtcp2_pkt_info *information,
                                 uint8_t *bytes, size_t room, ngtcp2_tstamp now, void *user) {
  struct connection *c = user;
  for (;;) {
    nghttp3_vec vectors[VECTORS];
    int64_t stream = -1;
    int fin = 0, count = 0;
    if (c->streams && ngtcp2_conn_get_max_data_left(quic)) {
      count = c->protocol->next(c->streams, &stream, &fin, vectors, VECTORS);
      if (count < 0) return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    ngtcp2_ssize taken = -1;
    uint32_t flags = NGTCP2_WRITE_STREAM_FLAG_MORE | (fin ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0u);
    /* Both libraries' vectors are a pointer and a length. */
    ngtcp2_ssize written =
        ngtcp2_conn_writev_stream(quic, path, information, bytes, room, &taken, flags, stream,
                                  (const ngtcp2_vec *)vectors, (size_t)count, now);
    if (written == NGTCP2_ERR_STREAM_DATA_BLOCKED) {
      c->protocol->blocked(c->streams, stream);
    } else if (written == NGTCP2_ERR_STREAM_SHUT_WR || written == NGTCP2_ERR_STREAM_NOT_FOUND) {
      c->protocol->shut(c->streams, stream);
    } else {
      if (taken >= 0 && c->protocol->sent(c->streams, stream, (size_t)taken))
        return NGTCP2_ERR_CALLBACK_FAILURE;
      if (written != NGTCP2_ERR_WRITE_MORE) return written;
    }
  }
}

int connection_write(struct connection *c) {
  static uint8_t bytes[MAX_BURST_BYTES];
  /* Without pacing: as long as the congestion window lets anything out. */
  for (;;) {
    ngtcp2_path_storage storage;
    ngtcp2_pkt_info information;
    size_t segment = 0, quantum = ngtcp2_conn_get_send_quantum(c->quic);
    size_t room = quantum < sizeof bytes ? quantum : sizeof bytes;
    if (room < c->settings->max_udp_payload) room = c->settings->max_udp_payload;
    ngtcp2_path_storage_zero(&storage);
    uint64_t now = now_ns();
    ngtcp2_ssize written = ngtcp2_conn_write_aggregate_pkt2(
        c->quic, &storage.path, &information, bytes, room, &segment, write_packet, 0, now);
    if (written < 0) return failed(c, (int)written);
    if (c->settings->pacing) ngtcp2_conn_update_pkt_tx_time(c->quic, now);
    if (written == 0) return 0;
    const struct sockaddr_in *to = (const struct sockaddr_in *)storage.path.remote.addr;
    udp_send(c->socket, to, bytes, (size_t)written, segment, c->settings->gso);
    if (c->settings->pacing) return 0;
  }
}

uint64_t connection_expiry(struct connection *c) { return ngtcp2_conn_get_expiry(c->quic); }

int connection_expire(struct connection *c) {
  int error = ngtcp2_conn_handle_expiry(c->quic, now_ns());
  return error ? failed(c, error) : 0;
}

void connection_close(struct connection *c, int error) {
  uint8_t bytes[NGTCP2_MAX_UDP_PAYLOAD_SIZE];
  if (ngtcp2_conn_in_closing_period(c->quic) || ngtcp2_conn_in_draining_period(c->quic)) return;
  if (!error) ngtcp2_ccerr_set_application_error(&c->error, c->settings->h3 ? 0x100 : 0, NULL, 0);
  ngtcp2_path_storage storage;
  ngtcp2_pkt_info information;
  ngtcp2_path_storage_zero(&storage);
  ngtcp2_ssize written = ngtcp2_conn_write_connection_close(
      c->quic, &storage.path, &information, bytes, sizeof bytes, &c->error, now_ns());
  if (written > 0)
    udp_send(c->socket, (const struct sockaddr_in *)storage.path.remote.addr, bytes, (size_t)written,
             (size_t)written, false);
}

const char *connection_reason(struct connection *c, int error) {
  if (error != NGTCP2_ERR_CRYPTO) return ngtcp2_strerror(error);
  const char *reason = tls_reason(c->ssl);
  return *reason ? reason : "TLS failed";
}

void connection_free(struct connection *c) {
  if (c->streams) c->protocol->destroy(c->streams);
  ngtcp2_conn_del(c->quic);
  if (c->ssl) {
    SSL_set_app_data(c->ssl, NULL);
    /* QUIC closes connections, TLS does not: otherwise OpenSSL takes the session for a broken one. */
    SSL_set_shutdown(c->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
  ngtcp2_crypto_ossl_ctx_del(c->tls);
  SSL_free(c->ssl);
  if (c->qlog) fclose(c->qlog);
  free(c);
}
