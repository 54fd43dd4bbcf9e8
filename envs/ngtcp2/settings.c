#include "settings.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "tls.h"

static const char *required(const char *name) {
  const char *value = getenv(name);
  if (!value || !*value) quit(EXIT_FAILURE, "environment variable %s is not set", name);
  return value;
}

static const char *optional(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

static uint64_t number(const char *name, const char *text, uint64_t low, uint64_t high) {
  char *end = NULL;
  unsigned long long value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || value < low || value > high)
    quit(EXIT_FAILURE, "%s %s: use a number from %llu to %llu", name, text,
         (unsigned long long)low, (unsigned long long)high);
  return value;
}

static uint64_t option(const char *name, uint64_t low, uint64_t high) {
  return number(name, required(name), low, high);
}

/* The position of a word among `count` names; quits with `status` if it is none of them. */
static size_t one_of(int status, const char *name, const char *word, const char *const *names,
                     size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(word, names[i]) == 0) return i;
  fprintf(stderr, "ngtcp2: known:");
  for (size_t i = 0; i < count; i++) fprintf(stderr, " %s", names[i]);
  fputc('\n', stderr);
  quit(status, "%s %s is not %s", name, word, status == EXIT_NOT_SUPPORTED ? "supported" : "known");
}
#define ONE_OF(status, name, word, ...)                                    \
  one_of(status, name, word, (const char *const[]){__VA_ARGS__},           \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static bool truth(const char *name) {
  const char *word = required(name);
  /* Python writes True, YAML true. */
  return ONE_OF(EXIT_FAILURE, name, word, "false", "False", "true", "True") >= 2;
}

struct sockaddr_in read_address(const char *what, const char *address, const char *port) {
  struct sockaddr_in result = {.sin_family = AF_INET};
  result.sin_port = htons((uint16_t)number("PORT", port, 0, 65535));
  if (inet_pton(AF_INET, address, &result.sin_addr) != 1)
    quit(EXIT_FAILURE, "%s %s is no IPv4 address", what, address);
  return result;
}

static void read_load(struct settings *s) {
  static const ngtcp2_cc_algo algorithms[] = {NGTCP2_CC_ALGO_CUBIC, NGTCP2_CC_ALGO_RENO,
                                              NGTCP2_CC_ALGO_BBR};
  s->protocol = required("PROTOCOL");
  s->h3 = ONE_OF(EXIT_NOT_SUPPORTED, "PROTOCOL", s->protocol, "hq", "h3") == 1;
  s->congestion_control_name = required("CONGESTION_CONTROL");
  s->congestion_control = algorithms[ONE_OF(EXIT_NOT_SUPPORTED, "CONGESTION_CONTROL",
                                            s->congestion_control_name, "cubic", "reno", "bbr")];
  s->connection = (enum connection_kind)ONE_OF(EXIT_NOT_SUPPORTED, "CONNECTION",
                                               required("CONNECTION"), "cold", "resumed", "0rtt");
  s->host = required("HOST");
  s->port = required("PORT");
  s->address = read_address("ADDRESS", required("ADDRESS"), s->port);
  s->certs = required("CERTS");
  s->state = required("STATE");
  s->keys = optional("SSLKEYLOGFILE", NULL);
  s->qlog = optional("QLOGDIR", NULL);
}

static void read_knobs(struct settings *s) {
  const uint64_t window = (uint64_t)1 << 40;
  s->cipher = cipher_suites(required("OPTION_CIPHER"));
  if (!s->cipher)
    quit(EXIT_NOT_SUPPORTED, "OPTION_CIPHER %s is not supported; use default, aes128, aes256 or chacha20",
         getenv("OPTION_CIPHER"));
  s->group = required("OPTION_GROUP");
  s->initial_max_data = option("OPTION_INITIAL_MAX_DATA", 1, window);
  s->initial_max_stream_data = option("OPTION_INITIAL_MAX_STREAM_DATA", 1, window);
  s->max_streams = option("OPTION_MAX_STREAMS", 1, 100000);
  s->ack_packets = option("OPTION_ACK_PACKETS", 1, 1000);
  s->idle_timeout_s = option("OPTION_IDLE_TIMEOUT_S", 1, 86400);
  s->initial_rtt_ms = option("OPTION_INITIAL_RTT_MS", 1, 100000);
  s->max_udp_payload = option("OPTION_MAX_UDP_PAYLOAD", NGTCP2_MAX_UDP_PAYLOAD_SIZE, 65507);
  s->socket_buffer_bytes = (int)option("OPTION_SOCKET_BUFFER_BYTES", 0, 1 << 30);
  s->gso = truth("OPTION_GSO");
  s->pacing = truth("OPTION_PACING");
  s->round_robin = ONE_OF(EXIT_FAILURE, "OPTION_SCHEDULING", required("OPTION_SCHEDULING"), "fifo",
                          "round_robin") == 1;
}

static void read_client(struct settings *s) {
  s->requests = required("REQUESTS");
  s->timing = required("TIMING");
  s->sequential =
      ONE_OF(EXIT_NOT_SUPPORTED, "FETCH", optional("FETCH", "page"), "page", "sequential") == 1;
  s->hash_bodies =
      ONE_OF(EXIT_NOT_SUPPORTED, "BODY", optional("BODY", "sha256"), "length", "sha256") == 1;
  s->verify = truth("OPTION_VERIFY");
  s->moves = (int)number("MOVES", optional("MOVES", "0"), 0, 1000);
  s->on_move = (enum on_move)ONE_OF(EXIT_NOT_SUPPORTED, "OPTION_ON_MOVE", required("OPTION_ON_MOVE"),
                                    "reconnect", "resume", "migrate");
  if (s->moves && !s->h3)
    quit(EXIT_NOT_SUPPORTED, "MOVES is not supported with hq, whose answers do not tell their lengths; use h3");
}

void read_settings(struct settings *s, bool server) {
  memset(s, 0, sizeof *s);
  s->server = server;
  read_load(s);
  read_knobs(s);
  if (server) s->www = required("WWW");
  else read_client(s);
}
