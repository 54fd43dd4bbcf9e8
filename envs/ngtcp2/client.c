/* Page client on ngtcp2, HTTP/3 and HTTP/0.9 over QUIC: docs/formats.md, section 2. */
#include <sys/prctl.h>

#include "contract/aes.h"
#include "contract/gate.h"
#include "load.h"
#include "tls.h"

static const struct in_addr ANY = {INADDR_ANY};

/* Fetch /prime on a connection of its own and keep the ticket that comes with it. */
static void prime(struct load *load) {
  struct page page;
  struct settings still = *load->settings;
  const struct settings *settings = load->settings;
  struct request request = {.path = "/prime"};
  still.asked = (struct asked){.requests = &request, .count = 1, .hashed = false};
  page_prepare(&page, &still);
  load->settings = &still;
  load->page = &page;
  page_begin(&page);
  load_connect(load, ANY, false, false);
  load_run(load);
  load_await_ticket(load);
  load_close(load);
  load->settings = settings;
}

int main(int argc, char **argv) {
  (void)argc;
  struct settings settings;
  struct load load = {.settings = &settings};
  struct page page;
  name_program("ngtcp2 client");
  choose_aes(argv);
  read_settings(&settings, false);
  ngtcp2_crypto_ossl_init();
  load.context = tls_context(&settings, load_keep_session);
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0); /* ns: pacing needs the time it asks for */
  page_prepare(&page, &settings);
  if (settings.told.connection != COLD) prime(&load);
  gate_pass();

  load.page = &page;
  page_begin(&page);
  load_connect(&load, ANY, settings.told.connection != COLD, settings.told.connection == EARLY);
  load_run(&load);
  page_write(&page);
  load_close(&load);
  SSL_SESSION_free(load.ticket.session);
  SSL_CTX_free(load.context);
  return EXIT_SUCCESS;
}
