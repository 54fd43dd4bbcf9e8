/* page-client: load one page by libcurl as an HTTP/1.1, HTTP/2 or HTTP/3 client would, and time it. */
#include <openssl/ssl.h>
#include <stdarg.h>
#include <string.h>

#include "options.h"
#include "timing.h"

void quit(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("page-client: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(status);
}

void *allocate(unsigned long count, unsigned long size) {
  void *memory = calloc(count, size);
  if (!memory) quit(EXIT_FAILURE, "out of memory");
  return memory;
}

static void read_protocol(struct settings *s) {
  static const struct {
    const char *name;
    long ask, expect;
  } known[] = {{"h1", CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_1_1},
               {"h2", CURL_HTTP_VERSION_2TLS, CURL_HTTP_VERSION_2_0},
               {"h3", CURL_HTTP_VERSION_3ONLY, CURL_HTTP_VERSION_3}};
  s->protocol = required("PROTOCOL");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(s->protocol, known[i].name) == 0) {
      s->http_version = known[i].ask;
      s->http_version_used = known[i].expect;
    }
  if (!s->http_version)
    quit(EXIT_NOT_SUPPORTED, "PROTOCOL %s is not supported; use h1, h2 or h3", s->protocol);
}

static bool is_h1(const struct settings *s) { return strcmp(s->protocol, "h1") == 0; }
static bool is_h3(const struct settings *s) { return strcmp(s->protocol, "h3") == 0; }

static void read_connection(struct settings *s) {
  const char *kind = required("CONNECTION");
  if (strcmp(kind, "cold") == 0) s->connection = COLD;
  else if (strcmp(kind, "resumed") == 0) s->connection = RESUMED;
  else if (strcmp(kind, "0rtt") == 0) s->connection = EARLY;
  else quit(EXIT_NOT_SUPPORTED, "CONNECTION %s is not supported; use cold, resumed or 0rtt", kind);
  /* With h1, libcurl takes the tickets that follow early data for stray bytes and gives up idle
     connections. With h3, libcurl 8.21 reports early data but sends the request after the handshake. */
  if (s->connection == EARLY && strcmp(s->protocol, "h2") != 0)
    quit(EXIT_NOT_SUPPORTED, "CONNECTION 0rtt is not supported with %s; use cold or resumed", s->protocol);

  /* libcurl's QUIC sender is ngtcp2's CUBIC and cannot be told otherwise. */
  const char *congestion = required("CONGESTION_CONTROL");
  if (is_h3(s) && strcmp(congestion, "cubic") != 0)
    quit(EXIT_NOT_SUPPORTED, "CONGESTION_CONTROL %s is not supported with h3; use cubic", congestion);
}

static void read_environment(struct settings *s) {
  memset(s, 0, sizeof *s);
  read_protocol(s);
  read_connection(s);
  const char *host = required("HOST"), *address = required("ADDRESS"), *port = required("PORT");
  read_options(s);
  s->requests = required("REQUESTS");
  s->timing = required("TIMING");
  if (asprintf(&s->resolve, "%s:%s:%s", host, port, address) < 0 ||
      asprintf(&s->prime_url, "https://%s:%s/prime", host, port) < 0 ||
      asprintf(&s->ca, "%s/ca.pem", required("CERTS")) < 0)
    quit(EXIT_FAILURE, "out of memory");

  s->connections = 1;
  if (is_h1(s)) {
    s->connections = (int)number_of("OPTION_CONNECTIONS", required("OPTION_CONNECTIONS"), 1, 100);
  }
}

/* OpenSSL loads its algorithms on first use: have that done before the clock starts. */
static void warm_up(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (!context) quit(EXIT_FAILURE, "OpenSSL does not start");
  SSL_CTX_free(context);
}

static void wait_for_go(void) {
  char line[16];
  puts("ready");
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin) || strcmp(line, "go\n") != 0)
    quit(EXIT_FAILURE, "expected the line go on standard input");
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts(curl_version());
    return EXIT_SUCCESS;
  }
  struct settings settings;
  struct page page;
  choose_aes(argv);
  read_environment(&settings);
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) quit(EXIT_FAILURE, "libcurl does not start");
  warm_up();
  page_prepare(&page, &settings);
  wait_for_go();
  page_load(&page);
  timing_write(&page);
  page_free(&page);
  curl_global_cleanup();
  return EXIT_SUCCESS;
}
