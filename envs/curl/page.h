/* A page load: the HTML, then all objects. */
#ifndef PAGE_H
#define PAGE_H

#include "transfer.h"

struct page {
  const struct settings *settings;
  CURLM *multi;                  /* the connections; another one after each move */
  int moves_begun;
  bool moving;                   /* "move" was said, "moved" not yet heard */
  CURLSH **sessions;             /* per connection: TLS sessions from its priming; NULL if cold */
  struct transfer *transfers;    /* the HTML first */
  int count;
  double start;                  /* Unix time */
  double handshake_s;            /* negative: not known */
  int connections;
  bool resumed_known, resumed, early_data;
};

/* A new set of connections. */
CURLM *open_multi(const struct settings *s);

/* Make all handles for REQUESTS and, unless cold, connect once (h1: as often as the page will) to get tickets. */
void page_prepare(struct page *page, const struct settings *settings);

/* Load; quits with a message on any failure. */
void page_load(struct page *page);

/* Write TIMING; quits if the file cannot be written. */
void page_write(const struct page *page);

void page_free(struct page *page);

#endif
