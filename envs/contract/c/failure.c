#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

static const char *program = "program";

void name_program(const char *name) { program = name; }

static char *formatted(const char *format, va_list arguments) {
  char *text = NULL;
  return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

void quit(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = formatted(format, arguments);
  va_end(arguments);
  for (char *c = text; c && *c; c++)
    if (*c == '\n') *c = ' ';
  fprintf(stderr, "%s: %s\n", program, text ? text : "out of memory");
  exit(status);
}

void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) quit(EXIT_FAILURE, "out of memory");
  return memory;
}

char *text_of(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = formatted(format, arguments);
  va_end(arguments);
  if (!text) quit(EXIT_FAILURE, "out of memory");
  return text;
}
