#include "urgency.h"

#include <stddef.h>

#include "environment.h"

enum urgency read_urgency(void) {
  static const char *const words[] = {"none", "order", "reverse", "incremental", NULL};
  return (enum urgency)option_supported("OPTION_URGENCY", words);
}

const char *priority_of(enum urgency urgency, int index, int count) {
  /* RFC 9218, section 4.1: 0 is the most urgent. The HTML's alone; its objects share the seven others. */
  static const char *const classes[] = {"u=0", "u=1", "u=2", "u=3", "u=4", "u=5", "u=6", "u=7"};
  int objects = count - 1, before = urgency == IN_ORDER ? index - 1 : objects - index;
  if (urgency == NO_URGENCY) return NULL;
  if (urgency == INCREMENTAL) return "u=3, i";
  return index == 0 ? classes[0] : classes[1 + before * 7 / objects];
}
