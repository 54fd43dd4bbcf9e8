/* TLS 1.3 by OpenSSL: contexts for both roles. */
#ifndef TLS_H
#define TLS_H

#include <openssl/ssl.h>

struct settings;

/* A context as the settings want it; quits naming what is wrong. on_session gets every session ticket
   (client; NULL: none wanted). */
SSL_CTX *tls_context(const struct settings *s, int (*on_session)(SSL *, SSL_SESSION *));

/* Start a connection's TLS object in this context, with host name (client) and ALPN. */
SSL *tls_session(SSL_CTX *context, const struct settings *s);

/* The reason of the last failure of TLS; "" if there is none. */
const char *tls_reason(SSL *ssl);

#endif
