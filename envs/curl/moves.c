#include "moves.h"

#include <string.h>

/* Bytes of the whole page: those announced, and for objects not yet answered the mean of the others. */
static double expected_bytes(const struct page *page) {
  double announced = 0;
  int known = 0;
  for (int i = 0; i < page->count; i++) {
    const struct transfer *t = &page->transfers[i];
    if (!t->done && t->expected < 0) continue;
    announced += (double)(t->done ? t->bytes : t->expected);
    known++;
  }
  return known ? announced * page->count / known : 0;
}

static double received_bytes(const struct page *page) {
  double sum = 0;
  for (int i = 0; i < page->count; i++) sum += (double)page->transfers[i].bytes;
  return sum;
}

static bool complete(const struct page *page) {
  for (int i = 0; i < page->count; i++)
    if (!page->transfers[i].done) return false;
  return true;
}

void moves_check(struct page *page) {
  int moves = page->settings->moves;
  if (page->moving || page->moves_begun >= moves || complete(page)) return;
  double expected = expected_bytes(page), share = (double)(page->moves_begun + 1) / (moves + 1);
  if (expected == 0 || received_bytes(page) < share * expected) return;
  page->moves_begun++;
  page->moving = true;
  puts("move");
  fflush(stdout);
}

int moves_go(struct page *page) {
  static const char word[] = "moved ";
  char line[64], interface[80];
  if (!fgets(line, sizeof line, stdin) || strncmp(line, word, sizeof word - 1) != 0)
    quit(EXIT_FAILURE, "expected the line moved ADDRESS on standard input");
  line[strcspn(line, "\n")] = '\0';
  snprintf(interface, sizeof interface, "host!%s", line + sizeof word - 1);
  page->moving = false;

  CURLM *before = page->multi;
  page->multi = open_multi(page->settings);
  int finished = 0;
  for (int i = 0; i < page->count; i++) {
    struct transfer *t = &page->transfers[i];
    long connects = 0;
    /* What is done stays where its connection was; what was not begun has only to know the new address. */
    curl_easy_setopt(t->easy, CURLOPT_INTERFACE, interface);
    if (!t->started) continue;
    curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
    curl_multi_remove_handle(before, t->easy);
    if (t->done) continue;
    if (t->bytes == t->expected) {
      /* Only the end of its stream was missing: there is no byte left to ask for. */
      transfer_finish(t, page->settings, CURLE_OK);
      finished++;
      continue;
    }
    t->connects += connects;
    transfer_resume(t, page->settings, page->multi, interface);
  }
  curl_multi_cleanup(before);
  return finished;
}
