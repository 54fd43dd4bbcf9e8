#include "tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "failure.h"

/* The variable that OpenSSL reads, and what is left in it. */
#if defined(__x86_64__) || defined(__i386__)
/* OPENSSL_ia32cap(3). Without AES-NI and PCLMULQDQ, bits 57 and 33 of the first word, and without their wide forms
   VAES and VPCLMULQDQ, bits 41 and 42 of the second. What is left computes AES with SSSE3. */
static const char MASK_NAME[] = "OPENSSL_ia32cap", MASK[] = "~0x200000200000000:~0x60000000000";
#elif defined(__aarch64__) || defined(__arm__)
/* crypto/arm_arch.h of OpenSSL: bit 0, NEON, alone, so neither AES nor PMULL of ARMv8. */
static const char MASK_NAME[] = "OPENSSL_armcap", MASK[] = "0x1";
#else
static const char MASK_NAME[] = "", MASK[] = "";
#endif

const char *read_cipher(const char *otherwise) {
  static const char *const words[] = {"default", "aes128", "aes256", "chacha20", NULL};
  /* RFC 8446, appendix B.4 */
  static const char *const suites[] = {NULL, "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                       "TLS_CHACHA20_POLY1305_SHA256"};
  int which = option_supported("OPTION_CIPHER", words);
  return which == 0 ? otherwise : suites[which];
}

const char *read_groups(void) {
  const char *groups = option("OPTION_GROUP");
  SSL_CTX *context = SSL_CTX_new(TLS_method());
  if (!context) quit(EXIT_FAILURE, "OpenSSL does not start");
  if (SSL_CTX_set1_groups_list(context, groups) != 1)
    quit(EXIT_NOT_SUPPORTED, "OPTION_GROUP %s is not supported: OpenSSL knows no such group", groups);
  ERR_clear_error();
  SSL_CTX_free(context);
  return groups;
}

void choose_aes(char **argv) {
  const char *now = getenv(MASK_NAME);
  if (option_switch("OPTION_AES_ACCELERATION") || (now && strcmp(now, MASK) == 0)) return;
  if (!*MASK) quit(EXIT_NOT_SUPPORTED, "OPTION_AES_ACCELERATION false is not supported on this processor");
  setenv(MASK_NAME, MASK, 1);
  execv("/proc/self/exe", argv);
  quit(EXIT_FAILURE, "cannot start anew without AES instructions: %s", strerror(errno));
}
