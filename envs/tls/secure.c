#include "secure.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int key_log = -1;

static void log_key(const SSL *ssl, const char *line) {
    (void)ssl;
    char text[1024];
    int length = snprintf(text, sizeof text, "%s\n", line);
    /* One write a line, as several threads and the other role may append to the same file. */
    if (write(key_log, text, (size_t)length) != length) {
        fail("SSLKEYLOGFILE: %s", strerror(errno));
    }
}

const char *library_reason(void) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    if (reason == NULL) {
        reason = errno != 0 ? strerror(errno) : "the connection was closed";
    }
    ERR_clear_error();
    return reason;
}

SSL_CTX *new_context(const struct settings *settings, const SSL_METHOD *method, const char *groups) {
    SSL_CTX *context = SSL_CTX_new(method);
    if (context == NULL || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) {
        fail("OpenSSL: %s", library_reason());
    }
    if (settings->suite != NULL && SSL_CTX_set_ciphersuites(context, settings->suite) != 1) {
        quit(EXIT_NOT_SUPPORTED, "OPTION_CIPHER %s is not supported", settings->suite);
    }
    if (SSL_CTX_set1_groups_list(context, groups) != 1) {
        quit(EXIT_NOT_SUPPORTED, "OPTION_GROUP %s is not supported", groups);
    }
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY | SSL_MODE_ENABLE_PARTIAL_WRITE);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, CHUNK);
    if (settings->told.keys != NULL) {
        key_log = open(settings->told.keys, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (key_log < 0) {
            fail("SSLKEYLOGFILE: %s: %s", settings->told.keys, strerror(errno));
        }
        SSL_CTX_set_keylog_callback(context, log_key);
    }
    return context;
}

int new_socket(const struct settings *settings) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1, size = settings->socket_buffer;
    if (descriptor < 0) {
        fail("socket: %s", strerror(errno));
    }
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (size > 0) {
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
    return descriptor;
}

SSL *new_ssl(SSL_CTX *context, int socket) {
    SSL *ssl = SSL_new(context);
    BIO *wire = BIO_new_socket(socket, BIO_NOCLOSE);
    BIO *gather = BIO_new(BIO_f_buffer());
    if (ssl == NULL || wire == NULL || gather == NULL || BIO_set_write_buffer_size(gather, CHUNK) != 1) {
        fail("OpenSSL: %s", library_reason());
    }
    BIO_up_ref(wire);
    SSL_set_bio(ssl, wire, BIO_push(gather, wire));
    return ssl;
}

bool print_version(char **argv) {
    if (argv[1] == NULL || strcmp(argv[1], "--version") != 0) {
        return false;
    }
    puts(OpenSSL_version(OPENSSL_VERSION));
    return true;
}
