/* Changes of the client's address during a load: MOVES in docs/formats.md, section 2. */
#ifndef MOVES_H
#define MOVES_H

#include "page.h"

/* Say "move" when the load has come so far. */
void moves_check(struct page *page);

/* Read "moved ADDRESS", open connections from there and go on at the byte reached. Returns how many transfers
   are finished by that, as nothing of them is missing. */
int moves_go(struct page *page);

#endif
