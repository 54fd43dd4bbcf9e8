#include "tls.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

static const char H3[] = "\x02h3", HQ[] = "\x0ahq-interop";

static FILE *key_log;

static void log_key(const SSL *ssl, const char *line) {
  (void)ssl;
  fprintf(key_log, "%s\n", line);
  fflush(key_log);
}

static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *in, unsigned int in_length, void *user) {
  (void)ssl;
  const struct settings *s = user;
  const char *wanted = s->h3 ? H3 : HQ;
  unsigned char *found = NULL;
  if (SSL_select_next_proto(&found, out_length, (const unsigned char *)wanted,
                            (unsigned int)strlen(wanted), in, in_length) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = found;
  return SSL_TLSEXT_ERR_OK;
}

static void prepare_server(SSL_CTX *context, const struct settings *s) {
  char *chain = text_of("%s/cert.pem", s->told.certs), *key = text_of("%s/priv.key", s->told.certs);
  if (SSL_CTX_use_certificate_chain_file(context, chain) != 1)
    quit(EXIT_FAILURE, "CERTS: %s: no certificate (%s)", chain, tls_reason(NULL));
  if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
    quit(EXIT_FAILURE, "CERTS: %s: no key for the certificate (%s)", key, tls_reason(NULL));
  free(chain);
  free(key);
  /* The settings outlive the context and are not changed by it. */
  SSL_CTX_set_alpn_select_cb(context, select_protocol, (void *)s);
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_ANTI_REPLAY);
  SSL_CTX_set_session_id_context(context, (const unsigned char *)"howquick", 8);
  /* RFC 9001, section 4.6.1: the only size of early data that QUIC knows. */
  if (s->told.connection == EARLY) SSL_CTX_set_max_early_data(context, UINT32_MAX);
}

static void prepare_client(SSL_CTX *context, const struct settings *s,
                           int (*on_session)(SSL *, SSL_SESSION *)) {
  char *authority = text_of("%s/ca.pem", s->told.certs);
  if (SSL_CTX_load_verify_file(context, authority) != 1)
    quit(EXIT_FAILURE, "CERTS: %s: no certificate (%s)", authority, tls_reason(NULL));
  free(authority);
  SSL_CTX_set_verify(context, s->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  if (on_session) SSL_CTX_sess_set_new_cb(context, on_session);
}

SSL_CTX *tls_context(const struct settings *s, int (*on_session)(SSL *, SSL_SESSION *)) {
  SSL_CTX *context = SSL_CTX_new(s->server ? TLS_server_method() : TLS_client_method());
  if (!context) quit(EXIT_FAILURE, "OpenSSL does not start");
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  if (SSL_CTX_set_ciphersuites(context, s->cipher) != 1)
    quit(EXIT_FAILURE, "OPTION_CIPHER: OpenSSL has no %s", s->cipher);
  if (SSL_CTX_set1_groups_list(context, s->group) != 1)
    quit(EXIT_FAILURE, "OPTION_GROUP %s: OpenSSL knows no such group", s->group);
  if (s->told.keys) {
    key_log = fopen(s->told.keys, "a");
    if (!key_log) quit(EXIT_FAILURE, "SSLKEYLOGFILE %s cannot be written", s->told.keys);
    SSL_CTX_set_keylog_callback(context, log_key);
  }
  if (s->server) prepare_server(context, s);
  else prepare_client(context, s, on_session);
  return context;
}

SSL *tls_session(SSL_CTX *context, const struct settings *s) {
  SSL *ssl = SSL_new(context);
  if (!ssl) quit(EXIT_FAILURE, "out of memory");
  if (s->server) {
    SSL_set_accept_state(ssl);
    return ssl;
  }
  const char *protocols = s->h3 ? H3 : HQ;
  SSL_set_connect_state(ssl);
  if (SSL_set_alpn_protos(ssl, (const unsigned char *)protocols, (unsigned int)strlen(protocols)) ||
      SSL_set_tlsext_host_name(ssl, s->told.host) != 1 || SSL_set1_host(ssl, s->told.host) != 1)
    quit(EXIT_FAILURE, "HOST %s: OpenSSL does not take it", s->told.host);
  return ssl;
}

const char *tls_reason(SSL *ssl) {
  if (ssl && SSL_get_verify_result(ssl) != X509_V_OK)
    return X509_verify_cert_error_string(SSL_get_verify_result(ssl));
  const char *reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason ? reason : "";
}
