/* The TIMING file: docs/formats.md, section 2. */
#ifndef TIMING_H
#define TIMING_H

#include "page.h"

/* Write the page's times as JSON; quits if the file cannot be written. */
void timing_write(const struct page *page);

#endif
