#include "settings.h"

#include <curl/curl.h>
#include <string.h>

#include "contract/environment.h"
#include "contract/tls.h"

enum protocol { H1, H2, H3 };

static enum protocol read_protocol(struct settings *s) {
  static const char *const words[] = {"h1", "h2", "h3", NULL};
  static const long versions[][2] = {{CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_1_1},
                                     {CURL_HTTP_VERSION_2TLS, CURL_HTTP_VERSION_2_0},
                                     {CURL_HTTP_VERSION_3ONLY, CURL_HTTP_VERSION_3}};
  /* libcurl's QUIC sender is ngtcp2's CUBIC and cannot be told otherwise. */
  static const char *const controls[] = {"cubic", NULL};
  int which = supported("PROTOCOL", NULL, words);
  s->protocol = words[which];
  s->http_version = versions[which][0];
  s->http_version_used = versions[which][1];
  if (which == H3) supported("CONGESTION_CONTROL", NULL, controls);
  else required("CONGESTION_CONTROL");
  return (enum protocol)which;
}

static void read_connection(struct settings *s, enum protocol protocol) {
  /* With h1, libcurl takes the tickets that follow early data for stray bytes and gives up idle
     connections. With h3, libcurl 8.21 reports early data but sends the request after the handshake. */
  static const char *const all[] = {CONNECTION_WORDS, NULL}, *const no_early[] = {"cold", "resumed", NULL};
  read_told(&s->told, protocol == H2 ? all : no_early);
  s->resolve = text_of("%s:%s:%s", s->told.host, s->told.port, required("ADDRESS"));
  s->prime_url = text_of("https://%s:%s/prime", s->told.host, s->told.port);
  s->ca = text_of("%s/ca.pem", s->told.certs);
}

void read_settings(struct settings *s) {
  static const char *const ways[] = {"reconnect", NULL};
  memset(s, 0, sizeof *s);
  enum protocol protocol = read_protocol(s);
  read_connection(s, protocol);
  read_asked(&s->asked, s->told.host);
  s->group = read_groups();
  s->ciphers = read_cipher(NULL);
  s->verify = option_switch("OPTION_VERIFY");
  s->socket_buffer_bytes = (int)option_number("OPTION_SOCKET_BUFFER_BYTES", 0, 1 << 30);
  s->connections = (int)option_number("OPTION_CONNECTIONS", 1, 100);
  if (protocol != H1) s->connections = 1;
  option_supported("OPTION_ON_MOVE", ways);
  s->urgency = read_urgency();
  check_options();
}
