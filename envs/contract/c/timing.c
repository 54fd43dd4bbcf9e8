#include "timing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"

static const char *truth(bool value) { return value ? "true" : "false"; }

/* RFC 8259, section 7: quotes, backslashes and control characters are escaped. */
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

static void write_object(FILE *file, const struct object_timing *o) {
  fputs("{\"path\": ", file);
  write_text(file, o->path);
  fprintf(file, ", \"status\": %d, \"bytes\": %llu, \"sha256\": ", o->status, (unsigned long long)o->bytes);
  if (o->sha256) write_text(file, o->sha256);
  else fputs("null", file);
  fprintf(file, ", \"start_s\": %.9f, \"first_byte_s\": %.9f, \"end_s\": %.9f}", o->start_s, o->first_byte_s,
          o->end_s);
}

static void write_negotiated(FILE *file, const struct timing *t) {
  const char *const names[] = {"cipher", "group", "congestion_control"};
  const char *const values[] = {t->cipher, t->group, t->congestion_control};
  const char *before = ", \"negotiated\": {";
  bool any = false;
  for (int i = 0; i < 3; i++) {
    if (!values[i]) continue;
    fprintf(file, "%s\"%s\": ", any ? ", " : before, names[i]);
    write_text(file, values[i]);
    any = true;
  }
  if (any) fputc('}', file);
}

static void write_page(FILE *file, const struct timing *t) {
  fputs("{\"protocol\": ", file);
  write_text(file, t->protocol);
  fprintf(file, ", \"start\": %.9f, \"handshake_s\": ", t->start);
  if (t->handshake_s < 0) fputs("null", file);
  else fprintf(file, "%.9f", t->handshake_s);
  fprintf(file, ", \"resumed\": %s, \"early_data\": %s, \"connections\": %d",
          t->resumed == UNKNOWN ? "null" : truth(t->resumed), truth(t->early_data), t->connections);
  write_negotiated(file, t);
  if (t->moves_followed != UNKNOWN) fprintf(file, ", \"metrics\": {\"moves_followed\": %d}", t->moves_followed);
  fputs(",\n \"objects\": [\n", file);
  for (int i = 0; i < t->count; i++) {
    fputs("  ", file);
    write_object(file, &t->objects[i]);
    fputs(i + 1 < t->count ? ",\n" : "\n", file);
  }
  fputs("]}\n", file);
}

void timing_write(const char *path, const struct timing *timing) {
  char *part = text_of("%s.part", path);
  FILE *file = fopen(part, "w");
  if (!file) quit(EXIT_FAILURE, "TIMING %s: %s", path, strerror(errno));
  write_page(file, timing);
  bool failed = ferror(file) != 0;
  if (fclose(file) != 0 || failed || rename(part, path) != 0)
    quit(EXIT_FAILURE, "TIMING %s: %s", path, strerror(errno));
  free(part);
}
