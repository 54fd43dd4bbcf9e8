/* What the environment asks of the client or the server: docs/formats.md, section 2. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <ngtcp2/ngtcp2.h>
#include <stdbool.h>

#include "common.h"
#include "contract/settings.h"
#include "contract/urgency.h"

enum on_move { RECONNECT, RESUME, MIGRATE };
/* Whose order the bytes of a server have: the client's, or one that nothing the client asks for changes. */
enum scheduling { AS_ASKED, FIFO, ROUND_ROBIN };

struct settings {
  bool server;
  bool h3;                         /* HTTP/3; otherwise HTTP/0.9 (hq-interop) */
  const char *protocol;
  ngtcp2_cc_algo congestion_control;
  const char *congestion_control_name;
  struct told told;
  struct asked asked;              /* client */
  const char *www;                 /* server: folder to serve */
  /* Knobs */
  const char *cipher, *group;
  uint64_t initial_max_data, initial_max_stream_data, max_streams, ack_packets;
  uint64_t idle_timeout_s, initial_rtt_ms, max_udp_payload;
  int socket_buffer_bytes;
  bool gso, pacing, verify;
  enum on_move on_move;
  enum scheduling scheduling;
  enum urgency urgency;
};

/* Read and check everything; quits with 127 for what is not supported and 1 for what is wrong. */
void read_settings(struct settings *s, bool server);

#endif
