/* What every file of the ngtcp2 client and server needs: failing, memory, clock. */
#ifndef COMMON_H
#define COMMON_H

#include <stddef.h>
#include <stdint.h>

enum { EXIT_NOT_SUPPORTED = 127 };

/* Print "ngtcp2: reason" and exit with status. */
void quit(int status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Zeroed memory, or quit. */
void *allocate(size_t count, size_t size);

/* A formatted text of its own, or quit. */
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Monotonic clock in nanoseconds, as ngtcp2 counts. */
uint64_t now_ns(void);

/* Fill memory with unpredictable bytes, or quit. */
void fill_random(uint8_t *memory, size_t length);

#endif
