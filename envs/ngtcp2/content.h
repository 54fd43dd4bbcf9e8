/* The server's files, in memory. */
#ifndef CONTENT_H
#define CONTENT_H

#include "streams.h"

/* The answer to a request for `path`: 200 with the file, 206 with its rest from byte `first` on when a
   range was asked for, or 404. */
struct answer content_answer(const char *www, const char *path, bool ranged, uint64_t first);

#endif
