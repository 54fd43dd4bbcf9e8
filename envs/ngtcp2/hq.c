/* HTTP/0.9 over QUIC (ALPN hq-interop): "GET <path>" and the end of the line on a stream of its own; the
   answer is the bytes of the object and the end of the stream. */
#include <stdlib.h>
#include <string.h>

#include "streams.h"

enum { REQUEST_BYTES = 4096 };

struct lane {
  int64_t stream;
  char *request;               /* client: what is sent; server: what has been read of it */
  size_t request_length;
  const uint8_t *bytes;        /* to send */
  uint64_t length, sent;
  bool ready, blocked, ended, done;
  struct lane *next;
};

struct streams {
  ngtcp2_conn *quic;
  const struct settings *settings;
  const struct handlers *handlers;
  void *user;
  struct lane *lanes;          /* in the order of their turns */
};

static struct lane *lane_of(struct streams *s, int64_t stream) {
  struct lane **at = &s->lanes;
  for (; *at; at = &(*at)->next)
    if ((*at)->stream == stream) return *at;
  *at = allocate(1, sizeof **at);
  (*at)->stream = stream;
  return *at;
}

static void forget(struct streams *s, struct lane *gone) {
  for (struct lane **at = &s->lanes; *at; at = &(*at)->next)
    if (*at == gone) {
      *at = gone->next;
      free(gone->request);
      free(gone);
      return;
    }
}

static struct streams *create(ngtcp2_conn *quic, const struct settings *settings,
                              const struct handlers *handlers, void *user) {
  struct streams *s = allocate(1, sizeof *s);
  *s = (struct streams){quic, settings, handlers, user, NULL};
  return s;
}

static void destroy(struct streams *s) {
  while (s->lanes) forget(s, s->lanes);
  free(s);
}

static int begin(struct streams *s) {
  (void)s;
  return 0;
}

static int request(struct streams *s, int64_t stream, const char *path, uint64_t first,
                   const char *priority) {
  (void)priority;
  if (first) return -1;
  struct lane *lane = lane_of(s, stream);
  lane->request = text_of("GET %s\r\n", path);
  lane->bytes = (const uint8_t *)lane->request;
  lane->length = strlen(lane->request);
  lane->ready = true;
  return 0;
}

static int respond(struct streams *s, int64_t stream, const struct answer *answer) {
  struct lane *lane = lane_of(s, stream);
  /* Without a status, the only way to say no is to break the stream. */
  if (answer->status != 200) return ngtcp2_conn_shutdown_stream_write(s->quic, 0, stream, 1) ? -1 : 0;
  lane->bytes = answer->bytes;
  lane->length = answer->length;
  lane->ready = true;
  return 0;
}

static int next(struct streams *s, int64_t *stream, int *fin, nghttp3_vec *vectors, size_t count) {
  (void)count;
  *stream = -1;
  for (struct lane *lane = s->lanes; lane; lane = lane->next) {
    if (!lane->ready || lane->blocked || lane->done) continue;
    *stream = lane->stream;
    *fin = 1;
    vectors[0] = (nghttp3_vec){(uint8_t *)lane->bytes + lane->sent, lane->length - lane->sent};
    return 1;
  }
  return 0;
}

/* Put a lane behind all others. */
static void end_turn(struct streams *s, struct lane *lane) {
  struct lane **at = &s->lanes;
  while (*at != lane) at = &(*at)->next;
  *at = lane->next;
  lane->next = NULL;
  while (*at) at = &(*at)->next;
  *at = lane;
}

static int sent(struct streams *s, int64_t stream, size_t length) {
  struct lane *lane = lane_of(s, stream);
  lane->sent += length;
  lane->done = lane->sent == lane->length;
  if (s->settings->scheduling == ROUND_ROBIN && !lane->done) end_turn(s, lane);
  return 0;
}

static void blocked(struct streams *s, int64_t stream) { lane_of(s, stream)->blocked = true; }
static void unblocked(struct streams *s, int64_t stream) { lane_of(s, stream)->blocked = false; }
static void shut(struct streams *s, int64_t stream) { lane_of(s, stream)->done = true; }

static void read_request(struct streams *s, struct lane *lane, const uint8_t *bytes, size_t length,
                         bool fin) {
  if (!lane->request) lane->request = allocate(1, REQUEST_BYTES);
  size_t room = REQUEST_BYTES - 1 - lane->request_length;
  memcpy(lane->request + lane->request_length, bytes, length < room ? length : room);
  lane->request_length += length < room ? length : room;
  char *line_end = strpbrk(lane->request, "\r\n");
  if (lane->ended || (!line_end && !fin)) return;
  if (line_end) *line_end = '\0';
  lane->ended = true;
  const char *path = strncmp(lane->request, "GET ", 4) == 0 ? lane->request + 4 : "";
  s->handlers->request(s->user, lane->stream, path, false, 0);
}

static int received(struct streams *s, int64_t stream, const uint8_t *bytes, size_t length, bool fin) {
  struct lane *lane = lane_of(s, stream);
  if (s->settings->server) {
    read_request(s, lane, bytes, length, fin);
  } else {
    s->handlers->body(s->user, stream, bytes, length);
    lane->ended |= fin;
    if (fin) s->handlers->end(s->user, stream);
  }
  ngtcp2_conn_extend_max_stream_offset(s->quic, stream, length);
  ngtcp2_conn_extend_max_offset(s->quic, length);
  return 0;
}

static int acknowledged(struct streams *s, int64_t stream, uint64_t length) {
  (void)s, (void)stream, (void)length;
  return 0;
}

static int closed(struct streams *s, int64_t stream, uint64_t error) {
  (void)error;
  struct lane *lane = lane_of(s, stream);
  if (!lane->ended && s->handlers->broken) s->handlers->broken(s->user, stream);
  forget(s, lane);
  return 0;
}

const struct protocol HTTP09 = {create, destroy, begin, request, respond, next, sent, blocked,
                                unblocked, shut, received, acknowledged, closed};
