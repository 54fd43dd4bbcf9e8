#include "moves.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "contract/gate.h"

static struct progress progress_of(const struct page *page) {
  struct progress progress = {.count = page->count, .moves = page->settings->asked.moves, .begun = page->moves_begun};
  for (int i = 0; i < page->count; i++) {
    const struct transfer *t = &page->transfers[i];
    progress.received += (double)t->bytes;
    if (!t->done && t->expected < 0) continue;
    progress.known += (double)(t->done ? t->bytes : t->expected);
    progress.told++;
  }
  return progress;
}

static bool complete(const struct page *page) {
  for (int i = 0; i < page->count; i++)
    if (!page->transfers[i].done) return false;
  return true;
}

void moves_check(struct page *page) {
  if (page->moving || complete(page)) return;
  struct progress progress = progress_of(page);
  if (!move_is_due(&progress)) return;
  page->moves_begun++;
  page->moving = true;
  gate_ask_to_move();
}

int moves_go(struct page *page) {
  char address[INET_ADDRSTRLEN], interface[sizeof address + sizeof "host!"];
  struct in_addr moved = gate_moved();
  snprintf(interface, sizeof interface, "host!%s", inet_ntop(AF_INET, &moved, address, sizeof address));
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
