#include "common.h"

#include <openssl/rand.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void quit(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("ngtcp2: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(status);
}

void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) quit(EXIT_FAILURE, "out of memory");
  return memory;
}

char *text_of(const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) quit(EXIT_FAILURE, "out of memory");
  return text;
}

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fill_random(uint8_t *memory, size_t length) {
  if (RAND_bytes(memory, (int)length) != 1) quit(EXIT_FAILURE, "no random numbers");
}
