#include "gate.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"

static void say(const char *word) {
  puts(word);
  fflush(stdout);
}

/* The next line without its end; empty at the end of the input. */
static void hear(char *line, int size) {
  if (!fgets(line, size, stdin)) *line = '\0';
  line[strcspn(line, "\n")] = '\0';
}

void gate_pass(void) {
  char line[64];
  /* Lines must come one at a time: the next one is waited for together with the network. */
  setvbuf(stdin, NULL, _IONBF, 0);
  say("ready");
  hear(line, sizeof line);
  if (strcmp(line, "go") != 0) quit(EXIT_FAILURE, "stdin: expected the line go, got '%s'", line);
}

bool move_is_due(const struct progress *p) {
  if (p->begun >= p->moves || p->told == 0) return false;
  double all = p->known / p->told * p->count;
  return all > 0 && p->received >= all * (p->begun + 1) / (p->moves + 1);
}

void gate_ask_to_move(void) { say("move"); }

struct in_addr gate_moved(void) {
  static const char word[] = "moved ";
  char line[128];
  struct in_addr address;
  hear(line, sizeof line);
  if (strncmp(line, word, strlen(word)) != 0 || inet_pton(AF_INET, line + strlen(word), &address) != 1)
    quit(EXIT_FAILURE, "stdin: expected the line moved ADDRESS, got '%s'", line);
  return address;
}
