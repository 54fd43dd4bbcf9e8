/* Variables of the environment, checked and typed. Every function quits naming the variable: with 127 for a word
   that the program does not know, with 1 for what is missing or wrong whoever is asked. */
#ifndef CONTRACT_ENVIRONMENT_H
#define CONTRACT_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* A variable that must be set. */
const char *required(const char *name);
/* A variable, or `otherwise` where it is absent or empty. */
const char *optional(const char *name, const char *otherwise);
/* A folder that must be there. */
const char *folder(const char *name);
/* The position of a variable's word in `known`, which NULL ends; that of `otherwise`, if it is not NULL, where the
   variable is absent. */
int supported(const char *name, const char *otherwise, const char *const *known);
/* A whole number from low to high; `otherwise`, if it is not negative, where the variable is absent. */
int64_t number(const char *name, int64_t low, int64_t high, int64_t otherwise);

/* The same of OPTION_..., whose full name is given; an option is never absent. */
const char *option(const char *name);
int option_supported(const char *name, const char *const *known);
int64_t option_number(const char *name, int64_t low, int64_t high);
/* true or false, in any case: Python writes True, YAML true. */
bool option_switch(const char *name);
/* Quits with 127 for an option that was given and that nobody has asked for by now. */
void check_options(void);

#endif
