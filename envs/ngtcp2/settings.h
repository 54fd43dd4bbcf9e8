/* What the environment asks of the client or the server: docs/formats.md, section 2. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <ngtcp2/ngtcp2.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "common.h"

enum connection_kind { COLD, RESUMED, EARLY };
enum on_move { RECONNECT, RESUME, MIGRATE };

struct settings {
  bool server;
  bool h3;                         /* HTTP/3; otherwise HTTP/0.9 (hq-interop) */
  const char *protocol;
  enum connection_kind connection;
  ngtcp2_cc_algo congestion_control;
  const char *congestion_control_name;
  const char *host, *port, *certs, *state;
  struct sockaddr_in address;      /* to bind (server) or to connect to (client) */
  const char *keys, *qlog;         /* file and folder; NULL: off */
  const char *www;                 /* server: folder to serve */
  const char *requests, *timing;   /* client */
  bool sequential, hash_bodies, verify;
  int moves;
  enum on_move on_move;
  /* Knobs */
  const char *cipher, *group;
  uint64_t initial_max_data, initial_max_stream_data, max_streams, ack_packets;
  uint64_t idle_timeout_s, initial_rtt_ms, max_udp_payload;
  int socket_buffer_bytes;
  bool gso, pacing, round_robin;
};

/* Read and check everything; quits with 127 for what is not supported and 1 for what is wrong. */
void read_settings(struct settings *s, bool server);

/* Read an IPv4 address and port; quits naming `what`. */
struct sockaddr_in read_address(const char *what, const char *address, const char *port);

#endif
