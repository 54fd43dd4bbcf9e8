/* Requests and answers on the streams of one QUIC connection: HTTP/3 (h3.c) or HTTP/0.9 (hq.c).

   The connection asks for bytes to send and hands over what came; the client or the server is told by
   the handlers. */
#ifndef STREAMS_H
#define STREAMS_H

#include <ngtcp2/ngtcp2.h>
#include <nghttp3/nghttp3.h>
#include <stdbool.h>

#include "settings.h"

/* What the client or server wants to know; unused ones may be NULL. */
struct handlers {
  /* Server: a request is complete. first: first byte wanted; ranged: a Range was asked for. */
  void (*request)(void *user, int64_t stream, const char *path, bool ranged, uint64_t first);
  /* Client: the answer's head came. length: of the bytes that follow; -1: not told. */
  void (*head)(void *user, int64_t stream, int status, int64_t length);
  void (*body)(void *user, int64_t stream, const uint8_t *bytes, size_t length);
  void (*end)(void *user, int64_t stream);
  /* The stream ended without its answer. */
  void (*broken)(void *user, int64_t stream);
};

/* Bytes of one answer; they must stay where they are until the connection ends. */
struct answer {
  int status;
  const uint8_t *bytes;
  uint64_t length;
  uint64_t first, whole;  /* of a part (status 206): where it begins, how long the whole is */
};

struct streams;

/* The operations of one protocol. Those that return int return 0 or -1 when the connection must end. */
struct protocol {
  struct streams *(*create)(ngtcp2_conn *quic, const struct settings *s, const struct handlers *h,
                            void *user);
  void (*destroy)(struct streams *streams);
  /* Open the protocol's own streams: once, as soon as keys allow. */
  int (*begin)(struct streams *streams);
  /* Client: send a request on a stream just opened; first > 0: the rest from that byte on; priority: the header
     field of RFC 9218, NULL for none. */
  int (*request)(struct streams *streams, int64_t stream, const char *path, uint64_t first, const char *priority);
  /* Server: answer a request. */
  int (*respond)(struct streams *streams, int64_t stream, const struct answer *answer);
  /* What to send next: fills *stream (-1: nothing), *fin and vectors; returns their number or -1. */
  int (*next)(struct streams *streams, int64_t *stream, int *fin, nghttp3_vec *vectors, size_t count);
  int (*sent)(struct streams *streams, int64_t stream, size_t length);
  /* Flow control blocks the stream; its window grew. */
  void (*blocked)(struct streams *streams, int64_t stream);
  void (*unblocked)(struct streams *streams, int64_t stream);
  void (*shut)(struct streams *streams, int64_t stream);
  int (*received)(struct streams *streams, int64_t stream, const uint8_t *bytes, size_t length, bool fin);
  int (*acknowledged)(struct streams *streams, int64_t stream, uint64_t length);
  int (*closed)(struct streams *streams, int64_t stream, uint64_t error);
};

extern const struct protocol HTTP3, HTTP09;

#endif
