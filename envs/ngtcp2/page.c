#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contract/timing.h"

static EVP_MD_CTX *new_hash(void) {
  EVP_MD_CTX *hash = EVP_MD_CTX_new();
  if (!hash || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1) quit(EXIT_FAILURE, "out of memory");
  return hash;
}

void page_prepare(struct page *page, const struct settings *s) {
  memset(page, 0, sizeof *page);
  page->settings = s;
  page->count = s->asked.count;
  page->objects = allocate((size_t)page->count, sizeof *page->objects);
  for (int i = 0; i < page->count; i++) {
    struct object *o = &page->objects[i];
    o->path = s->asked.requests[i].path;
    o->expected = -1;
    o->first_byte_s = -1;
    if (s->asked.hashed) o->hash = new_hash();
  }
}

void page_begin(struct page *page) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  page->start = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
  page->origin_ns = now_ns();
}

double page_clock(const struct page *page) { return (double)(now_ns() - page->origin_ns) / 1e9; }

bool page_may_request(const struct page *page, int index) {
  if (index == 0) return true;
  return page->objects[page->settings->asked.sequential ? index - 1 : 0].complete;
}

static void note_first_byte(struct page *page, struct object *o) {
  if (o->first_byte_s < 0) o->first_byte_s = page_clock(page);
}

void object_answered(struct page *page, struct object *o, int status, int64_t length) {
  note_first_byte(page, o);
  o->answered = true;
  if (status != (o->resumed_at ? 206 : 200)) quit(EXIT_FAILURE, "%s: status %d", o->path, status);
  o->status = 200;
  if (length >= 0) o->expected = (int64_t)o->resumed_at + length;
}

void object_received(struct page *page, struct object *o, const uint8_t *bytes, size_t length) {
  note_first_byte(page, o);
  o->bytes += length;
  page->received += length;
  if (o->hash && EVP_DigestUpdate(o->hash, bytes, length) != 1) quit(EXIT_FAILURE, "SHA-256 failed");
}

void object_ended(struct page *page, struct object *o) {
  if (o->complete) return;
  note_first_byte(page, o);
  if (o->expected >= 0 && (uint64_t)o->expected != o->bytes)
    quit(EXIT_FAILURE, "%s: %llu bytes instead of %lld", o->path, (unsigned long long)o->bytes,
         (long long)o->expected);
  /* Without a status of the protocol's (hq), an answer that ended well is a good one. */
  o->status = 200;
  o->end_s = page_clock(page);
  o->complete = true;
  page->complete++;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (!o->hash) return;
  if (EVP_DigestFinal_ex(o->hash, digest, &size) != 1) quit(EXIT_FAILURE, "SHA-256 failed");
  for (unsigned int i = 0; i < size; i++) sprintf(o->sha256 + 2 * i, "%02x", digest[i]);
}

void page_end_received(struct page *page) {
  for (int i = 0; i < page->count; i++) {
    struct object *o = &page->objects[i];
    if (o->expected >= 0 && (uint64_t)o->expected == o->bytes) object_ended(page, o);
  }
}

struct progress page_progress(const struct page *page) {
  struct progress progress = {.received = (double)page->received, .count = page->count};
  for (int i = 0; i < page->count; i++) {
    const struct object *o = &page->objects[i];
    int64_t length = o->complete ? (int64_t)o->bytes : o->expected;
    if (length < 0) continue;
    progress.known += (double)length;
    progress.told++;
  }
  return progress;
}

void page_write(const struct page *page) {
  const struct settings *s = page->settings;
  struct timing timing = {.protocol = s->protocol, .start = page->start, .handshake_s = page->handshake_s,
                          .resumed = page->resumed, .early_data = page->early_data,
                          .connections = page->connections, .cipher = page->cipher, .group = page->group,
                          .congestion_control = s->congestion_control_name, .moves_followed = UNKNOWN,
                          .count = page->count};
  timing.objects = allocate((size_t)page->count, sizeof *timing.objects);
  for (int i = 0; i < page->count; i++) {
    const struct object *o = &page->objects[i];
    timing.objects[i] = (struct object_timing){o->path, o->status, o->bytes, o->hash ? o->sha256 : NULL,
                                               o->start_s, o->first_byte_s, o->end_s};
  }
  timing_write(s->asked.timing, &timing);
  free(timing.objects);
}
