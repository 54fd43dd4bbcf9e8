/* TLS 1.3 by OpenSSL: contexts for both roles. */
#ifndef TLS_H
#define TLS_H

#include <openssl/ssl.h>

struct settings;

/* OpenSSL's names for one word of the option cipher; NULL if there are none. */
const char *cipher_suites(const char *word);

/* A context as the settings want it; quits naming what is wrong. on_session gets every session ticket
   (client; NULL: none wanted). */
SSL_CTX *tls_context(const struct settings *s, int (*on_session)(SSL *, SSL_SESSION *));

/* Start a connection's TLS object in this context, with host name (client) and ALPN. */
SSL *tls_session(SSL_CTX *context, const struct settings *s);

/* The reason of the last failure of TLS; "" if there is none. */
const char *tls_reason(SSL *ssl);

/* If OPTION_AES_ACCELERATION is false, start this program anew with OpenSSL told to compute AES without
   the processor's instructions: it looks at that only once, when it is loaded. */
void choose_aes(char **argv);

#endif
