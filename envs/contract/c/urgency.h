/* How urgent a client calls the objects of its page: option urgency of docs/formats.md, section 2. */
#ifndef CONTRACT_URGENCY_H
#define CONTRACT_URGENCY_H

enum urgency { NO_URGENCY, IN_ORDER, IN_REVERSE, INCREMENTAL };

/* Read OPTION_URGENCY. */
enum urgency read_urgency(void);

/* Value of the header field `priority` (RFC 9218) for request `index` of `count`, the HTML being the first; NULL:
   none is sent. */
const char *priority_of(enum urgency urgency, int index, int count);

#endif
