#include "timing.h"

#include <errno.h>
#include <string.h>

static void write_text(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') fprintf(file, "\\%c", c);
    else if (c < 0x20) fprintf(file, "\\u%04x", c);
    else fputc(c, file);
  }
  fputc('"', file);
}

static const char *truth(bool value) { return value ? "true" : "false"; }

static void write_object(FILE *file, const struct transfer *t) {
  fputs("{\"path\": ", file);
  write_text(file, t->path);
  fprintf(file,
          ", \"status\": %ld, \"bytes\": %lld, \"sha256\": %s%s%s, "
          "\"start_s\": %.6f, \"first_byte_s\": %.6f, \"end_s\": %.6f}",
          t->status, t->bytes, t->hash ? "\"" : "null", t->sha256, t->hash ? "\"" : "", t->start_s, t->first_byte_s, t->end_s);
}

void timing_write(const struct page *page) {
  const char *path = page->settings->timing;
  FILE *file = fopen(path, "w");
  if (!file) quit(EXIT_FAILURE, "TIMING %s: %s", path, strerror(errno));
  fprintf(file, "{\"protocol\": \"%s\", \"start\": %.6f, \"handshake_s\": ", page->settings->protocol,
          page->start);
  if (page->handshake_s < 0) fputs("null", file);
  else fprintf(file, "%.6f", page->handshake_s);
  fprintf(file, ", \"resumed\": %s, \"early_data\": %s, \"connections\": %d,\n \"objects\": [\n",
          page->resumed_known ? truth(page->resumed) : "null", truth(page->early_data),
          page->connections);
  for (int i = 0; i < page->count; i++) {
    fputs("  ", file);
    write_object(file, &page->transfers[i]);
    fputs(i + 1 < page->count ? ",\n" : "\n", file);
  }
  fputs("]}\n", file);
  if (ferror(file) || fclose(file) != 0) quit(EXIT_FAILURE, "TIMING %s: %s", path, strerror(errno));
}
