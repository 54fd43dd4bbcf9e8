/* TIMING, the file that a client writes: docs/formats.md, section 2. */
#ifndef CONTRACT_TIMING_H
#define CONTRACT_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* What is not known of a number, of a truth value, of a count. */
enum { UNKNOWN = -1 };

struct object_timing {
  const char *path;
  int status;
  uint64_t bytes;
  const char *sha256;          /* NULL: bodies are only counted */
  double start_s, first_byte_s, end_s;  /* since the load's start */
};

struct timing {
  const char *protocol;
  double start;                /* Unix time */
  double handshake_s;          /* or UNKNOWN */
  int resumed;                 /* a truth value, or UNKNOWN */
  bool early_data;
  int connections;
  const char *cipher, *group, *congestion_control; /* what was negotiated; NULL where it is not known */
  int moves_followed;          /* a metric, or UNKNOWN */
  struct object_timing *objects;
  int count;
};

/* Write it under another name, then rename, so that the file is whole or absent; quits if it cannot be written. */
void timing_write(const char *path, const struct timing *timing);

#endif
