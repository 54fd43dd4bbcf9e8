/* Reading of the environment: values, and the knobs that docs/formats.md, section 2, lists. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "settings.h"

/* A variable's value; quits if it is missing. */
const char *required(const char *name);

/* A number from low to high; quits naming the variable. */
long number_of(const char *name, const char *text, long low, long high);

/* Fill in what OPTION_..., FETCH, BODY and MOVES say; quits with 127 for what is not supported. */
void read_options(struct settings *s);

/* If OPTION_AES_ACCELERATION is false, start this program anew with OpenSSL told to compute AES slowly: it
   looks at that only once, when it is loaded. */
void choose_aes(char **argv);

#endif
