/* The objects of a page load and what is known of each. */
#ifndef PAGE_H
#define PAGE_H

#include <openssl/evp.h>

#include "contract/gate.h"
#include "settings.h"

struct object {
  const char *path;            /* within the URL */
  EVP_MD_CTX *hash;            /* NULL: bodies are not hashed */
  bool requested, answered, complete;
  uint64_t bytes;
  uint64_t resumed_at;         /* byte from which the present request asks */
  int64_t expected;            /* length of the whole; -1: not told */
  int status;
  double start_s, first_byte_s, end_s;  /* since the page's start */
  char sha256[2 * EVP_MAX_MD_SIZE + 1];
};

struct page {
  const struct settings *settings;
  struct object *objects;
  int count, complete;
  uint64_t received;           /* bytes of all bodies */
  uint64_t origin_ns;
  double start;                /* Unix time */
  double handshake_s;
  bool resumed, early_data;
  int connections;
  char cipher[64], group[64];
};

/* The objects that the settings ask for. */
void page_prepare(struct page *page, const struct settings *s);

/* Start the clock. */
void page_begin(struct page *page);

/* Seconds since the start. */
double page_clock(const struct page *page);

/* May object `index` be asked for now? The HTML first, then all others; or one after the other. */
bool page_may_request(const struct page *page, int index);

/* An object's answer begins, goes on, ends; they quit if it is not what was asked for. */
void object_answered(struct page *page, struct object *o, int status, int64_t length);
void object_received(struct page *page, struct object *o, const uint8_t *bytes, size_t length);
void object_ended(struct page *page, struct object *o);

/* Note the end of the objects of which only the end of the stream is missing: there is no byte of them left to
   ask for on another connection. */
void page_end_received(struct page *page);

/* How much of it has come, of what is known of it. */
struct progress page_progress(const struct page *page);

/* Write TIMING; quits if the file cannot be written. */
void page_write(const struct page *page);

#endif
