/* The words that runner and client exchange over standard input and output: the gate and MOVES in
   docs/formats.md, section 2. */
#ifndef CONTRACT_GATE_H
#define CONTRACT_GATE_H

#include <netinet/in.h>
#include <stdbool.h>

/* Say that only the load is left to do, and wait for the word; quits for another one. */
void gate_pass(void);

/* How far a load has come. */
struct progress {
  double received;  /* bytes */
  double known;     /* bytes that were announced of `told` objects */
  int told, count;  /* objects, and all of them */
  int moves, begun; /* changes of address in all, and those that were asked for */
};

/* Whether change i of n is due: i/(n+1) of all bytes have come. Objects whose length the server has not told yet
   are taken to be as long as the mean of the others. */
bool move_is_due(const struct progress *progress);

/* Ask for another address. */
void gate_ask_to_move(void);

/* Read the line that tells the new address; quits for another one. */
struct in_addr gate_moved(void);

#endif
