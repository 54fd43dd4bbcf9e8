#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *required(const char *name) {
  const char *value = getenv(name);
  if (!value || !*value) quit(EXIT_FAILURE, "environment variable %s is not set", name);
  return value;
}

long number_of(const char *name, const char *text, long low, long high) {
  char *end = NULL;
  long number = strtol(text, &end, 10);
  if (*end || number < low || number > high)
    quit(EXIT_FAILURE, "%s %s: use a number from %ld to %ld", name, text, low, high);
  return number;
}

static bool truth(const char *name) {
  const char *word = required(name);
  if (strcasecmp(word, "true") != 0 && strcasecmp(word, "false") != 0)
    quit(EXIT_FAILURE, "%s %s: use true or false", name, word);
  return strcasecmp(word, "true") == 0;
}

/* Which of two words a variable has, the first where it is not set. */
static bool second(const char *name, const char *first, const char *other) {
  const char *word = getenv(name);
  if (!word || strcmp(word, first) == 0) return false;
  if (strcmp(word, other) != 0)
    quit(EXIT_NOT_SUPPORTED, "%s %s is not supported; use %s or %s", name, word, first, other);
  return true;
}

static const char *ciphers_of(const char *word) {
  if (strcmp(word, "default") == 0) return NULL;
  if (strcmp(word, "aes128") == 0) return "TLS_AES_128_GCM_SHA256";
  if (strcmp(word, "aes256") == 0) return "TLS_AES_256_GCM_SHA384";
  if (strcmp(word, "chacha20") == 0) return "TLS_CHACHA20_POLY1305_SHA256";
  quit(EXIT_NOT_SUPPORTED, "OPTION_CIPHER %s is not supported; use default, aes128, aes256 or chacha20", word);
}

void read_options(struct settings *s) {
  const char *size = required("OPTION_SOCKET_BUFFER_BYTES"), *moves = getenv("MOVES");
  s->group = required("OPTION_GROUP");
  s->ciphers = ciphers_of(required("OPTION_CIPHER"));
  s->verify = truth("OPTION_VERIFY");
  s->socket_buffer_bytes = (int)number_of("OPTION_SOCKET_BUFFER_BYTES", size, 0, 1 << 30);
  s->sequential = second("FETCH", "page", "sequential");
  s->hash_bodies = !second("BODY", "sha256", "length");
  s->moves = (int)number_of("MOVES", moves ? moves : "0", 0, 1000);
  const char *way = required("OPTION_ON_MOVE");
  if (s->moves && strcmp(way, "reconnect") != 0)
    quit(EXIT_NOT_SUPPORTED, "OPTION_ON_MOVE %s is not supported; use reconnect", way);
}

void choose_aes(char **argv) {
  const char *word = getenv("OPTION_AES_ACCELERATION");
  if (!word || truth("OPTION_AES_ACCELERATION") || getenv("OPENSSL_ia32cap")) return;
  /* Without AES-NI and PCLMULQDQ and their wide forms (OPENSSL_ia32cap(3)); ARMv8: NEON alone. */
  setenv("OPENSSL_ia32cap", "~0x200000200000000:~0x60000000000", 1);
  setenv("OPENSSL_armcap", "0x1", 1);
  execv("/proc/self/exe", argv);
  quit(EXIT_FAILURE, "cannot start anew without AES instructions");
}
