#include "page.h"

#include <string.h>
#include <unistd.h>

#include "contract/timing.h"
#include "moves.h"

CURLM *open_multi(const struct settings *s) {
  CURLM *multi = curl_multi_init();
  if (!multi) quit(EXIT_FAILURE, "out of memory");
  long pipelining = s->connections == 1 ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING;
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, pipelining);
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)s->connections);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)s->connections + 1);
  /* More would open a second connection. */
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);
  return multi;
}

/* Run transfers[0 … count) with at most `parallel` at once: one ends, the next begins. */
static void run(struct page *page, struct transfer *transfers, int count, int parallel, double origin) {
  const struct settings *s = page->settings;
  int started = 0, finished = 0;
  while (finished < count) {
    while (started < count && started - finished < parallel)
      transfer_start(&transfers[started++], page->multi, origin);

    int running = 0, left = 0;
    CURLMcode code = curl_multi_perform(page->multi, &running);
    if (code != CURLM_OK) quit(EXIT_FAILURE, "%s", curl_multi_strerror(code));

    int before = finished;
    for (CURLMsg *m; (m = curl_multi_info_read(page->multi, &left));) {
      if (m->msg != CURLMSG_DONE) continue;
      struct transfer *t = NULL;
      CURL *easy = m->easy_handle;
      CURLcode result = m->data.result;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
      if (page->moving && result != CURLE_OK) {
        t->broken = true;
        continue;
      }
      transfer_finish(t, s, result);
      finished++;
    }
    moves_check(page);
    struct curl_waitfd input = {.fd = STDIN_FILENO, .events = CURL_WAIT_POLLIN};
    unsigned inputs = page->moving ? 1 : 0;
    if (finished == before && curl_multi_poll(page->multi, &input, inputs, 1000, NULL) != CURLM_OK)
      quit(EXIT_FAILURE, "waiting for the network failed");
    if (inputs && input.revents) finished += moves_go(page);
  }
}

static void open_sessions(struct page *page) {
  const struct settings *s = page->settings;
  page->sessions = allocate(s->connections, sizeof *page->sessions);
  for (int i = 0; i < s->connections; i++) {
    page->sessions[i] = curl_share_init();
    if (!page->sessions[i]) quit(EXIT_FAILURE, "out of memory");
    curl_share_setopt(page->sessions[i], CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  }
}

/* The sessions transfer i of the page may resume. The HTML and the first object use connection 0; each of
   the next objects opens one more. */
static CURLSH *sessions_of(const struct page *page, int i) {
  return page->sessions ? page->sessions[i == 0 ? 0 : (i - 1) % page->settings->connections] : NULL;
}

/* Connections the page will open. */
static int connections_needed(const struct settings *s) {
  int objects = s->asked.count - 1;
  if (objects < 1 || s->asked.sequential) return 1;
  return objects < s->connections ? objects : s->connections;
}

/* A TLS 1.3 client uses a ticket once and libcurl keeps few per server, so every connection that the page
   will open has a cache of its own, filled by a connection before it. */
static void prime(struct page *page) {
  const struct settings *s = page->settings;
  int count = connections_needed(s);
  struct transfer *transfers = allocate(count, sizeof *transfers);
  struct settings still = *s;
  struct page first = {.settings = &still, .multi = open_multi(s), .transfers = transfers, .count = count};
  still.asked.moves = 0;
  struct request request = {s->prime_url, "/prime"};
  for (int i = 0; i < count; i++)
    transfer_prepare(&transfers[i], s, &request, page->sessions[i]);
  run(&first, transfers, count, count, monotonic_s());
  for (int i = 0; i < count; i++) {
    curl_multi_remove_handle(first.multi, transfers[i].easy);
    transfer_free(&transfers[i]);
  }
  curl_multi_cleanup(first.multi);
  free(transfers);
}

void page_prepare(struct page *page, const struct settings *settings) {
  memset(page, 0, sizeof *page);
  page->settings = settings;
  if (settings->told.connection != COLD) {
    open_sessions(page);
    prime(page);
  }
  page->count = settings->asked.count;
  page->transfers = allocate((size_t)page->count, sizeof *page->transfers);
  for (int i = 0; i < page->count; i++) {
    struct transfer *t = &page->transfers[i];
    transfer_prepare(t, settings, &settings->asked.requests[i], sessions_of(page, i));
    transfer_prioritize(t, priority_of(settings->urgency, i, page->count));
    /* Otherwise libcurl would use fewer connections than asked for when the server answers at once. */
    bool opens = !settings->asked.sequential && i >= 2 && i <= settings->connections;
    curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, opens ? 1L : 0L);
  }
}

static void note_connections(struct page *page) {
  page->resumed_known = page->resumed = true;
  for (int i = 0; i < page->count; i++) {
    const struct transfer *t = &page->transfers[i];
    page->connections += (int)t->connects;
    if (t->connects == 0) continue;
    page->resumed_known &= t->session_known;
    page->resumed &= t->session_reused;
  }
  CURL *first = page->transfers[0].easy;
  curl_off_t appconnect_us = 0, early_bytes = 0;
  curl_easy_getinfo(first, CURLINFO_APPCONNECT_TIME_T, &appconnect_us);
  curl_easy_getinfo(first, CURLINFO_EARLYDATA_SENT_T, &early_bytes);
  page->handshake_s = appconnect_us > 0 ? (double)appconnect_us / 1e6 : -1;
  page->early_data = early_bytes > 0; /* negative: sent and rejected */
}

void page_load(struct page *page) {
  const struct settings *s = page->settings;
  page->multi = open_multi(s);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  double origin = monotonic_s();
  page->start = (double)now.tv_sec + (double)now.tv_nsec / 1e9;

  run(page, page->transfers, 1, 1, origin);
  int objects = page->count - 1;
  int parallel = s->asked.sequential ? 1 : s->connections == 1 ? objects : s->connections;
  run(page, page->transfers + 1, objects, parallel, origin);

  note_connections(page);
  for (int i = 0; i < page->count; i++) curl_multi_remove_handle(page->multi, page->transfers[i].easy);
  curl_multi_cleanup(page->multi);
}

void page_write(const struct page *page) {
  struct timing timing = {.protocol = page->settings->protocol, .start = page->start,
                          .handshake_s = page->handshake_s,
                          .resumed = page->resumed_known ? page->resumed : UNKNOWN,
                          .early_data = page->early_data, .connections = page->connections,
                          .moves_followed = UNKNOWN, .count = page->count};
  timing.objects = allocate((size_t)page->count, sizeof *timing.objects);
  for (int i = 0; i < page->count; i++) {
    const struct transfer *t = &page->transfers[i];
    timing.objects[i] = (struct object_timing){t->path, (int)t->status, (uint64_t)t->bytes,
                                               t->hash ? t->sha256 : NULL, t->start_s, t->first_byte_s, t->end_s};
  }
  timing_write(page->settings->asked.timing, &timing);
  free(timing.objects);
}

void page_free(struct page *page) {
  for (int i = 0; i < page->count; i++) transfer_free(&page->transfers[i]);
  free(page->transfers);
  for (int i = 0; page->sessions && i < page->settings->connections; i++)
    curl_share_cleanup(page->sessions[i]);
  free(page->sessions);
}
