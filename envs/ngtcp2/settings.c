#include "settings.h"

#include <string.h>

#include "contract/environment.h"
#include "contract/tls.h"

/* The library's own order begins with AES-256. */
static const char ANY_CIPHER[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

static void read_protocol(struct settings *s) {
  static const char *const protocols[] = {"hq", "h3", NULL}, *const connections[] = {CONNECTION_WORDS, NULL};
  static const char *const controls[] = {"cubic", "reno", "bbr", NULL};
  static const ngtcp2_cc_algo algorithms[] = {NGTCP2_CC_ALGO_CUBIC, NGTCP2_CC_ALGO_RENO,
                                              NGTCP2_CC_ALGO_BBR};
  int protocol = supported("PROTOCOL", NULL, protocols), control = supported("CONGESTION_CONTROL", NULL, controls);
  s->protocol = protocols[protocol];
  s->h3 = protocol == 1;
  s->congestion_control = algorithms[control];
  s->congestion_control_name = controls[control];
  read_told(&s->told, connections);
}

static void read_knobs(struct settings *s) {
  static const char *const orders[] = {"client", "fifo", "round_robin", NULL};
  static const char *const ways[] = {"reconnect", "resume", "migrate", NULL};
  const int64_t window = (int64_t)1 << 40;
  s->cipher = read_cipher(ANY_CIPHER);
  s->group = read_groups();
  s->initial_max_data = (uint64_t)option_number("OPTION_INITIAL_MAX_DATA", 1, window);
  s->initial_max_stream_data = (uint64_t)option_number("OPTION_INITIAL_MAX_STREAM_DATA", 1, window);
  s->max_streams = (uint64_t)option_number("OPTION_MAX_STREAMS", 1, 100000);
  s->ack_packets = (uint64_t)option_number("OPTION_ACK_PACKETS", 1, 1000);
  s->idle_timeout_s = (uint64_t)option_number("OPTION_IDLE_TIMEOUT_S", 1, 86400);
  s->initial_rtt_ms = (uint64_t)option_number("OPTION_INITIAL_RTT_MS", 1, 100000);
  s->max_udp_payload = (uint64_t)option_number("OPTION_MAX_UDP_PAYLOAD", NGTCP2_MAX_UDP_PAYLOAD_SIZE, 65507);
  s->socket_buffer_bytes = (int)option_number("OPTION_SOCKET_BUFFER_BYTES", 0, 1 << 30);
  s->gso = option_switch("OPTION_GSO");
  s->pacing = option_switch("OPTION_PACING");
  s->verify = option_switch("OPTION_VERIFY");
  s->scheduling = (enum scheduling)option_supported("OPTION_SCHEDULING", orders);
  s->on_move = (enum on_move)option_supported("OPTION_ON_MOVE", ways);
  s->urgency = read_urgency();
  check_options();
}

static void read_client(struct settings *s) {
  read_asked(&s->asked, s->told.host);
  if (s->asked.moves && !s->h3)
    quit(EXIT_NOT_SUPPORTED, "MOVES is not supported with hq, whose answers do not tell their lengths; use h3");
  if (s->urgency != NO_URGENCY && !s->h3)
    quit(EXIT_NOT_SUPPORTED, "OPTION_URGENCY %s is not supported with hq, whose requests have no header; use h3 or none",
         option("OPTION_URGENCY"));
}

void read_settings(struct settings *s, bool server) {
  memset(s, 0, sizeof *s);
  s->server = server;
  read_protocol(s);
  read_knobs(s);
  if (server) s->www = folder("WWW");
  else read_client(s);
}
