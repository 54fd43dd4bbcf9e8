#include "tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "environment.h"
#include "failure.h"

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
