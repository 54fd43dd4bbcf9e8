#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static EVP_MD_CTX *new_hash(void) {
  EVP_MD_CTX *hash = EVP_MD_CTX_new();
  if (!hash || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1) quit(EXIT_FAILURE, "out of memory");
  return hash;
}

void page_prepare(struct page *page, const struct settings *s, const char *urls) {
  char *list = text_of("%s", urls), *rest = NULL;
  memset(page, 0, sizeof *page);
  page->settings = s;
  page->objects = allocate(strlen(urls) / 2 + 1, sizeof *page->objects);
  for (char *url = strtok_r(list, " ", &rest); url; url = strtok_r(NULL, " ", &rest)) {
    struct object *o = &page->objects[page->count++];
    const char *authority = strstr(url, "://");
    o->path = authority ? strchr(authority + 3, '/') : NULL;
    if (!o->path) quit(EXIT_FAILURE, "REQUESTS: %s is not a full URL", url);
    o->expected = -1;
    o->first_byte_s = -1;
    if (s->hash_bodies) o->hash = new_hash();
  }
  if (!page->count) quit(EXIT_FAILURE, "REQUESTS: no URL");
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
  return page->objects[page->settings->sequential ? index - 1 : 0].complete;
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

double page_expected(const struct page *page) {
  double announced = 0;
  int known = 0;
  for (int i = 0; i < page->count; i++) {
    const struct object *o = &page->objects[i];
    int64_t length = o->complete ? (int64_t)o->bytes : o->expected;
    if (length < 0) continue;
    announced += (double)length;
    known++;
  }
  return known ? announced * page->count / known : 0;
}
