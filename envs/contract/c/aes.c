#include "aes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "failure.h"

#if defined(__x86_64__) || defined(__i386__)
/* OPENSSL_ia32cap(3). AES-NI and PCLMULQDQ are bits 57 and 33 of the first word, their wide forms VAES and VPCLMULQDQ
   bits 41 and 42 of the second. What is left computes AES with SSSE3. */
static const char MASK_NAME[] = "OPENSSL_ia32cap";
static const uint64_t AES[] = {0x200000200000000, 0x60000000000};

/* A word of the mask with further bits hidden: after ~ it has those that are, else those that are not. */
static char *hide(const char *word, size_t length, uint64_t bits) {
  if (length == 0) return text_of("~0x%" PRIx64, bits);
  char *text = text_of("%.*s", (int)length, word), *end;
  bool is_hidden = *text == '~';
  uint64_t value = strtoull(text + is_hidden, &end, 0);
  if (*end || end == text + is_hidden) quit(EXIT_FAILURE, "%s %s is no mask", MASK_NAME, getenv(MASK_NAME));
  free(text);
  return is_hidden ? text_of("~0x%" PRIx64, value | bits) : text_of("0x%" PRIx64, value & ~bits);
}

static char *without_aes(const char *mask) {
  size_t length = strcspn(mask, ":");
  char *first = hide(mask, length, AES[0]);
  const char *rest = mask + length + (mask[length] == ':');
  length = strcspn(rest, ":");
  char *second = hide(rest, length, AES[1]);
  char *both = text_of("%s:%s%s", first, second, rest + length);
  free(first);
  free(second);
  return both;
}
#elif defined(__aarch64__) || defined(__arm__)
/* crypto/arm_arch.h of OpenSSL: bit 0, NEON, alone, so neither AES nor PMULL of ARMv8. */
static const char MASK_NAME[] = "OPENSSL_armcap";

static char *without_aes(const char *mask) {
  (void)mask;
  return text_of("0x1");
}
#else
static const char MASK_NAME[] = "";

static char *without_aes(const char *mask) {
  (void)mask;
  quit(EXIT_NOT_SUPPORTED, "OPTION_AES_ACCELERATION false is not supported on this processor");
}
#endif

void choose_aes(char **argv) {
  if (option_switch("OPTION_AES_ACCELERATION")) return;
  const char *mask = optional(MASK_NAME, "");
  char *wanted = without_aes(mask);
  bool is_done = strcmp(mask, wanted) == 0;
  if (!is_done) {
    setenv(MASK_NAME, wanted, 1);
    execv("/proc/self/exe", argv);
    quit(EXIT_FAILURE, "cannot start anew without AES instructions: %s", strerror(errno));
  }
  free(wanted);
}
