#include "timing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *truth(bool value) { return value ? "true" : "false"; }

/* Paths come from URLs: only these two could end a JSON text. */
static void write_path(FILE *file, const char *path) {
  for (; *path; path++) {
    if (*path == '"' || *path == '\\') fputc('\\', file);
    fputc(*path, file);
  }
}

static void write_object(FILE *file, const struct object *o) {
  fputs("  {\"path\": \"", file);
  write_path(file, o->path);
  fprintf(file, "\", \"status\": %d, \"bytes\": %llu, \"sha256\": ", o->status,
          (unsigned long long)o->bytes);
  if (o->hash) fprintf(file, "\"%s\"", o->sha256);
  else fputs("null", file);
  fprintf(file, ", \"start_s\": %.6f, \"first_byte_s\": %.6f, \"end_s\": %.6f}", o->start_s,
          o->first_byte_s, o->end_s);
}

void timing_write(const struct page *page) {
  const struct settings *s = page->settings;
  FILE *file = fopen(s->timing, "w");
  if (!file) quit(EXIT_FAILURE, "TIMING %s: %s", s->timing, strerror(errno));
  fprintf(file,
          "{\"protocol\": \"%s\", \"start\": %.6f, \"handshake_s\": %.6f, \"resumed\": %s, "
          "\"early_data\": %s, \"connections\": %d,\n \"negotiated\": {\"cipher\": \"%s\", "
          "\"group\": \"%s\", \"congestion_control\": \"%s\"},\n \"objects\": [\n",
          s->protocol, page->start, page->handshake_s, truth(page->resumed), truth(page->early_data),
          page->connections, page->cipher, page->group, s->congestion_control_name);
  for (int i = 0; i < page->count; i++) {
    write_object(file, &page->objects[i]);
    fputs(i + 1 < page->count ? ",\n" : "\n", file);
  }
  fputs("]}\n", file);
  if (ferror(file) || fclose(file) != 0)
    quit(EXIT_FAILURE, "TIMING %s: %s", s->timing, strerror(errno));
}
