#include "common.h"

#include <openssl/rand.h>
#include <time.h>

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fill_random(uint8_t *memory, size_t length) {
  if (RAND_bytes(memory, (int)length) != 1) quit(EXIT_FAILURE, "no random numbers");
}
