/* HTTP/3 by nghttp3. */
#include <stdlib.h>
#include <string.h>

#include "streams.h"

/* One request of the server's: what has been read of it, and its answer. */
struct exchange {
  int64_t stream;
  char *path;
  bool ranged, body_given, ended;
  uint64_t first;
  int status;
  int64_t length;
  struct answer answer;
  struct exchange *next;
};

struct streams {
  nghttp3_conn *h3;
  ngtcp2_conn *quic;
  const struct settings *settings;
  const struct handlers *handlers;
  void *user;
  struct exchange *exchanges;
};

static struct exchange *exchange_of(struct streams *s, int64_t stream) {
  for (struct exchange *e = s->exchanges; e; e = e->next)
    if (e->stream == stream) return e;
  struct exchange *e = allocate(1, sizeof *e);
  e->stream = stream;
  e->length = -1;
  e->next = s->exchanges;
  return s->exchanges = e;
}

static void forget(struct streams *s, int64_t stream) {
  for (struct exchange **at = &s->exchanges; *at; at = &(*at)->next)
    if ((*at)->stream == stream) {
      struct exchange *gone = *at;
      *at = gone->next;
      free(gone->path);
      free(gone);
      return;
    }
}

static bool is(nghttp3_vec value, const char *text) {
  return value.len == strlen(text) && memcmp(value.base, text, value.len) == 0;
}

static long long number_in(nghttp3_vec value) {
  char digits[24] = "";
  memcpy(digits, value.base, value.len < sizeof digits - 1 ? value.len : sizeof digits - 1);
  return strtoll(digits, NULL, 10);
}

static int on_header(nghttp3_conn *h3, int64_t stream, int32_t token, nghttp3_rcbuf *name,
                     nghttp3_rcbuf *value, uint8_t flags, void *user, void *stream_user) {
  (void)h3, (void)flags, (void)stream_user;
  struct exchange *e = exchange_of(user, stream);
  nghttp3_vec text = nghttp3_rcbuf_get_buf(value);
  const char range[] = "bytes=";
  if (token == NGHTTP3_QPACK_TOKEN__PATH) {
    free(e->path);
    e->path = text_of("%.*s", (int)text.len, (const char *)text.base);
  } else if (token == NGHTTP3_QPACK_TOKEN__STATUS) {
    e->status = (int)number_in(text);
  } else if (token == NGHTTP3_QPACK_TOKEN_CONTENT_LENGTH) {
    e->length = number_in(text);
  } else if (is(nghttp3_rcbuf_get_buf(name), "range") && text.len >= sizeof range - 1 &&
             memcmp(text.base, range, sizeof range - 1) == 0) {
    text.base += sizeof range - 1;
    text.len -= sizeof range - 1;
    e->ranged = true;
    e->first = (uint64_t)number_in(text);
  }
  return 0;
}

static int on_headers_end(nghttp3_conn *h3, int64_t stream, int fin, void *user, void *stream_user) {
  (void)h3, (void)fin, (void)stream_user;
  struct streams *s = user;
  struct exchange *e = exchange_of(s, stream);
  /* 1xx answers come before the answer. */
  if (!s->settings->server && e->status >= 200)
    s->handlers->head(s->user, stream, e->status, e->length);
  return 0;
}

static int on_body(nghttp3_conn *h3, int64_t stream, const uint8_t *bytes, size_t length, void *user,
                   void *stream_user) {
  (void)h3, (void)stream_user;
  struct streams *s = user;
  if (s->handlers->body) s->handlers->body(s->user, stream, bytes, length);
  ngtcp2_conn_extend_max_stream_offset(s->quic, stream, length);
  ngtcp2_conn_extend_max_offset(s->quic, length);
  return 0;
}

static int on_consumed_late(nghttp3_conn *h3, int64_t stream, size_t length, void *user,
                            void *stream_user) {
  (void)h3, (void)stream_user;
  struct streams *s = user;
  ngtcp2_conn_extend_max_stream_offset(s->quic, stream, length);
  ngtcp2_conn_extend_max_offset(s->quic, length);
  return 0;
}

static int on_stream_end(nghttp3_conn *h3, int64_t stream, void *user, void *stream_user) {
  (void)h3, (void)stream_user;
  struct streams *s = user;
  struct exchange *e = exchange_of(s, stream);
  e->ended = true;
  if (s->settings->server)
    s->handlers->request(s->user, stream, e->path ? e->path : "", e->ranged, e->first);
  else
    s->handlers->end(s->user, stream);
  return 0;
}

static int on_stop_sending(nghttp3_conn *h3, int64_t stream, uint64_t error, void *user,
                           void *stream_user) {
  (void)h3, (void)stream_user;
  struct streams *s = user;
  return ngtcp2_conn_shutdown_stream_read(s->quic, 0, stream, error) ? NGHTTP3_ERR_CALLBACK_FAILURE : 0;
}

static int on_reset(nghttp3_conn *h3, int64_t stream, uint64_t error, void *user, void *stream_user) {
  (void)h3, (void)stream_user;
  struct streams *s = user;
  return ngtcp2_conn_shutdown_stream_write(s->quic, 0, stream, error) ? NGHTTP3_ERR_CALLBACK_FAILURE : 0;
}

static nghttp3_ssize on_read(nghttp3_conn *h3, int64_t stream, nghttp3_vec *vectors, size_t count,
                             uint32_t *flags, void *user, void *stream_user) {
  (void)h3, (void)count, (void)stream_user;
  struct exchange *e = exchange_of(user, stream);
  *flags |= NGHTTP3_DATA_FLAG_EOF;
  if (e->body_given || e->answer.length == 0) return 0;
  e->body_given = true;
  vectors[0] = (nghttp3_vec){(uint8_t *)e->answer.bytes, e->answer.length};
  return 1;
}

static struct streams *create(ngtcp2_conn *quic, const struct settings *settings,
                              const struct handlers *handlers, void *user) {
  const nghttp3_callbacks callbacks = {
      .recv_header = on_header, .end_headers = on_headers_end, .recv_data = on_body,
      .deferred_consume = on_consumed_late, .end_stream = on_stream_end,
      .stop_sending = on_stop_sending, .reset_stream = on_reset, .rand = fill_random};
  struct streams *s = allocate(1, sizeof *s);
  *s = (struct streams){.quic = quic, .settings = settings, .handlers = handlers, .user = user};
  nghttp3_settings h3;
  nghttp3_settings_default(&h3);
  int failed = settings->server ? nghttp3_conn_server_new(&s->h3, &callbacks, &h3, NULL, s)
                                : nghttp3_conn_client_new(&s->h3, &callbacks, &h3, NULL, s);
  if (failed) quit(EXIT_FAILURE, "nghttp3: %s", nghttp3_strerror(failed));
  if (settings->server) nghttp3_conn_set_max_client_streams_bidi(s->h3, settings->max_streams);
  return s;
}

static void destroy(struct streams *s) {
  nghttp3_conn_del(s->h3);
  while (s->exchanges) forget(s, s->exchanges->stream);
  free(s);
}

static int begin(struct streams *s) {
  int64_t control, encoder, decoder;
  if (ngtcp2_conn_open_uni_stream(s->quic, &control, NULL) ||
      ngtcp2_conn_open_uni_stream(s->quic, &encoder, NULL) ||
      ngtcp2_conn_open_uni_stream(s->quic, &decoder, NULL))
    return -1;
  return nghttp3_conn_bind_control_stream(s->h3, control) ||
                 nghttp3_conn_bind_qpack_streams(s->h3, encoder, decoder)
             ? -1 : 0;
}

static nghttp3_nv header(const char *name, const char *value) {
  return (nghttp3_nv){(const uint8_t *)name, (const uint8_t *)value, strlen(name), strlen(value),
                      NGHTTP3_NV_FLAG_NONE};
}

static int request(struct streams *s, int64_t stream, const char *path, uint64_t first,
                   const char *priority) {
  char *authority = text_of("%s:%s", s->settings->told.host, s->settings->told.port);
  char *range = text_of("bytes=%llu-", (unsigned long long)first);
  nghttp3_nv headers[7] = {header(":method", "GET"), header(":scheme", "https"), header(":authority", authority),
                           header(":path", path), header("user-agent", "howquick")};
  size_t count = 5;
  if (first) headers[count++] = header("range", range);
  if (priority) headers[count++] = header("priority", priority);
  int failed = nghttp3_conn_submit_request(s->h3, stream, headers, count, NULL, NULL);
  free(authority);
  free(range);
  return failed ? -1 : 0;
}

static int respond(struct streams *s, int64_t stream, const struct answer *answer) {
  struct exchange *e = exchange_of(s, stream);
  e->answer = *answer;
  unsigned long long first = answer->first, length = answer->length, whole = answer->whole;
  char *status = text_of("%d", answer->status), *size = text_of("%llu", length);
  char *range = text_of("bytes %llu-%llu/%llu", first, first + length - 1, whole);
  nghttp3_nv headers[] = {header(":status", status), header("server", "ngtcp2"),
                          header("content-length", size), header("content-range", range)};
  size_t count = answer->status == 206 ? 4 : 3;
  const nghttp3_data_reader reader = {on_read};
  if (s->settings->scheduling != AS_ASKED) {
    /* Goes before what the client asks for, in its request or later. */
    nghttp3_pri priority = {.urgency = NGHTTP3_DEFAULT_URGENCY, .inc = s->settings->scheduling == ROUND_ROBIN};
    nghttp3_conn_set_server_stream_priority(s->h3, stream, &priority);
  }
  int failed = nghttp3_conn_submit_response(s->h3, stream, headers, count, &reader);
  free(status);
  free(size);
  free(range);
  return failed ? -1 : 0;
}

static int next(struct streams *s, int64_t *stream, int *fin, nghttp3_vec *vectors, size_t count) {
  nghttp3_ssize filled = nghttp3_conn_writev_stream(s->h3, stream, fin, vectors, count);
  return filled < 0 ? -1 : (int)filled;
}

static int sent(struct streams *s, int64_t stream, size_t length) {
  return nghttp3_conn_add_write_offset(s->h3, stream, length) ? -1 : 0;
}

static void blocked(struct streams *s, int64_t stream) { nghttp3_conn_block_stream(s->h3, stream); }
static void unblocked(struct streams *s, int64_t stream) { nghttp3_conn_unblock_stream(s->h3, stream); }
static void shut(struct streams *s, int64_t stream) { nghttp3_conn_shutdown_stream_write(s->h3, stream); }

static int received(struct streams *s, int64_t stream, const uint8_t *bytes, size_t length, bool fin) {
  nghttp3_ssize consumed = nghttp3_conn_read_stream(s->h3, stream, bytes, length, fin);
  if (consumed < 0) return -1;
  ngtcp2_conn_extend_max_stream_offset(s->quic, stream, (uint64_t)consumed);
  ngtcp2_conn_extend_max_offset(s->quic, (uint64_t)consumed);
  return 0;
}

static int acknowledged(struct streams *s, int64_t stream, uint64_t length) {
  return nghttp3_conn_add_ack_offset(s->h3, stream, length) ? -1 : 0;
}

static int closed(struct streams *s, int64_t stream, uint64_t error) {
  bool broken = ngtcp2_is_bidi_stream(stream) && !exchange_of(s, stream)->ended;
  int failed = nghttp3_conn_close_stream(s->h3, stream, error);
  if (failed && failed != NGHTTP3_ERR_STREAM_NOT_FOUND) return -1;
  if (broken && s->handlers->broken) s->handlers->broken(s->user, stream);
  forget(s, stream);
  return 0;
}

const struct protocol HTTP3 = {create, destroy, begin, request, respond, next, sent, blocked,
                               unblocked, shut, received, acknowledged, closed};
