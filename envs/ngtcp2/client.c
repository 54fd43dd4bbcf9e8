/* Page client on ngtcp2, HTTP/3 and HTTP/0.9 over QUIC: docs/formats.md, section 2. */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "load.h"
#include "timing.h"
#include "tls.h"

static const struct in_addr ANY = {INADDR_ANY};

/* Fetch /prime on a connection of its own and keep the ticket that comes with it. */
static void prime(struct load *load) {
  struct page page;
  struct settings still = *load->settings;
  const struct settings *settings = load->settings;
  still.moves = 0;
  char *url = text_of("https://%s:%s/prime", still.host, still.port);
  page_prepare(&page, &still, url);
  free(url);
  load->settings = &still;
  load->page = &page;
  page_begin(&page);
  load_connect(load, ANY, false, false);
  load_run(load);
  load_await_ticket(load);
  load_close(load);
  load->settings = settings;
}

static void wait_for_go(void) {
  char line[16];
  puts("ready");
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin) || strcmp(line, "go\n") != 0)
    quit(EXIT_FAILURE, "expected the line go on standard input");
}

int main(int argc, char **argv) {
  (void)argc;
  struct settings settings;
  struct load load = {.settings = &settings};
  struct page page;
  choose_aes(argv);
  read_settings(&settings, false);
  ngtcp2_crypto_ossl_init();
  load.context = tls_context(&settings, load_keep_session);
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0); /* ns: pacing needs the time it asks for */
  page_prepare(&page, &settings, settings.requests);
  if (settings.connection != COLD) prime(&load);
  wait_for_go();

  load.page = &page;
  page_begin(&page);
  load_connect(&load, ANY, settings.connection != COLD, settings.connection == EARLY);
  load_run(&load);
  timing_write(&page);
  load_close(&load);
  SSL_SESSION_free(load.ticket.session);
  SSL_CTX_free(load.context);
  return EXIT_SUCCESS;
}
