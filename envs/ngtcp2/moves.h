/* Changes of the client's address during a load: MOVES in docs/formats.md, section 2. */
#ifndef MOVES_H
#define MOVES_H

#include "load.h"

/* Say "move" when the load has come so far. */
void moves_check(struct load *load);

/* Read "moved ADDRESS" and go on from there as OPTION_ON_MOVE says. */
void moves_go(struct load *load);

#endif
