/* What every file of the ngtcp2 client and server needs: failing and memory, clock, chance. */
#ifndef COMMON_H
#define COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "contract/failure.h"

/* Monotonic clock in nanoseconds, as ngtcp2 counts. */
uint64_t now_ns(void);

/* Fill memory with unpredictable bytes, or quit. */
void fill_random(uint8_t *memory, size_t length);

#endif
