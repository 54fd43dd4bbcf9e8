#include "environment.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"

enum { MOST_OPTIONS = 64 };
#define PREFIX "OPTION_"

static const char *asked[MOST_OPTIONS];
static size_t asked_count;

const char *optional(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

const char *required(const char *name) {
  const char *value = optional(name, NULL);
  if (!value) quit(EXIT_FAILURE, "%s is not set (docs/formats.md, section 2)", name);
  return value;
}

const char *folder(const char *name) {
  const char *path = required(name);
  struct stat status;
  if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
    quit(EXIT_FAILURE, "%s %s is not a folder", name, path);
  return path;
}

int supported(const char *name, const char *otherwise, const char *const *known) {
  const char *word = otherwise ? optional(name, otherwise) : required(name);
  char *list = text_of("%s", known[0]);
  for (int i = 0; known[i]; i++)
    if (strcmp(word, known[i]) == 0) {
      free(list);
      return i;
    }
  for (int i = 1; known[i]; i++) {
    char *longer = text_of("%s or %s", list, known[i]);
    free(list);
    list = longer;
  }
  quit(EXIT_NOT_SUPPORTED, "%s %s is not supported; use %s", name, word, list);
}

int64_t number(const char *name, int64_t low, int64_t high, int64_t otherwise) {
  if (otherwise >= 0 && !optional(name, NULL)) return otherwise;
  const char *text = required(name);
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  /* strtoll also takes blanks and a plus. */
  bool whole = (*text == '-' || isdigit((unsigned char)*text)) && !*end && errno == 0;
  if (!whole || value < low || value > high)
    quit(EXIT_FAILURE, "%s %s: use a whole number from %lld to %lld", name, text, (long long)low, (long long)high);
  return value;
}

const char *option(const char *name) {
  if (asked_count < MOST_OPTIONS) asked[asked_count++] = name;
  return required(name);
}

int option_supported(const char *name, const char *const *known) {
  option(name);
  return supported(name, NULL, known);
}

int64_t option_number(const char *name, int64_t low, int64_t high) {
  option(name);
  return number(name, low, high, -1);
}

bool option_switch(const char *name) {
  const char *word = option(name);
  if (strcasecmp(word, "true") != 0 && strcasecmp(word, "false") != 0)
    quit(EXIT_FAILURE, "%s %s: use true or false", name, word);
  return strcasecmp(word, "true") == 0;
}

static bool is_asked(const char *variable) {
  size_t length = strcspn(variable, "=");
  for (size_t i = 0; i < asked_count; i++)
    if (strlen(asked[i]) == length && strncmp(asked[i], variable, length) == 0) return true;
  return false;
}

void check_options(void) {
  for (char **variable = environ; *variable; variable++)
    if (strncmp(*variable, PREFIX, strlen(PREFIX)) == 0 && !is_asked(*variable))
      quit(EXIT_NOT_SUPPORTED, "%.*s is not supported: there is no such option", (int)strcspn(*variable, "="),
           *variable);
}
