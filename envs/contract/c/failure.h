/* How a program that cannot go on ends: docs/formats.md, section 2. */
#ifndef CONTRACT_FAILURE_H
#define CONTRACT_FAILURE_H

#include <stddef.h>
#include <stdlib.h>

enum { EXIT_NOT_SUPPORTED = 127 };

/* The name that every message of this program begins with. */
void name_program(const char *name);

/* Print one line, "PROGRAM: reason", and exit with status. */
void quit(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Zeroed memory, or quit. */
void *allocate(size_t count, size_t size);

/* A formatted text of its own, or quit. */
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
